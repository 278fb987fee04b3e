// Links in a provider's answers, made to lead back through Resource Manager.
import { isRecord } from '../../../arm/record.ts';

const armPath = /^\/(?:subscriptions|providers)\//i;

/** The link as clients are given it. Links to paths that are not Resource Manager's stay as they are. */
export function rewriteLink(link: string, endpointUrl: string, origin: string): string {
  const base = new URL(endpointUrl);
  const url = URL.parse(link, endpointUrl);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return link;
  const front = base.pathname.replace(/\/$/, '');
  const isOwn =
    url.host === base.host && front !== '' && url.pathname.toLowerCase().startsWith(`${front.toLowerCase()}/`);
  const path = isOwn ? url.pathname.slice(front.length) : url.pathname;
  return armPath.test(path) ? `${origin}${path}${url.search}` : link;
}

/** A body with its `nextLink` rewritten. */
export function rewriteBody(body: unknown, endpointUrl: string, origin: string): unknown {
  if (!isRecord(body) || typeof body.nextLink !== 'string' || body.nextLink === '') return body;
  return { ...body, nextLink: rewriteLink(body.nextLink, endpointUrl, origin) };
}
