// Absolute links in answers. Their base is ARM's Referer (the public URL the customer used) when ARM sent it, else an origin that
// the product states. Host and Referer of anybody else are never repeated.
import type { FastifyRequest } from 'fastify';
import { armHeader } from './authentication.ts';
import { pathOf } from './request.ts';

export interface LinkOptions {
  /** `https://host[:port]` for callers that are not ARM. A function when it depends on the listener. */
  readonly origin: string | ((request: FastifyRequest) => string);
  /** Lets a Referer from ARM be http. For local use only. */
  readonly allowHttp?: boolean;
}

/** What every absolute link of one answer starts with. */
interface Base {
  /** `https://management.azure.com`, or with a path that a proxy put in front of ours. */
  readonly front: string;
  /** The request's own path and query as the customer spelt them. */
  readonly path: string;
  readonly query: string;
}

/** An absolute link to a path of this service (an operation's status), with the request's api-version or the given one. */
export function linkTo(request: FastifyRequest, options: LinkOptions, path: string, apiVersion?: string): string {
  const version = apiVersion ?? request.arm.apiVersion;
  const query = version === '' ? '' : `?api-version=${encodeURIComponent(version)}`;
  return `${baseOf(request, options).front}${encodeURI(path)}${query}`;
}

/** The list's own URL with `$skipToken` set in place of any it had. */
export function nextLink(request: FastifyRequest, options: LinkOptions, skipToken: string): string {
  const base = baseOf(request, options);
  const kept = base.query.split('&').filter((pair) => pair !== '' && !isSkipToken(pair));
  return `${base.front}${base.path}?${[...kept, `$skipToken=${encodeURIComponent(skipToken)}`].join('&')}`;
}

function isSkipToken(pair: string): boolean {
  const name = pair.split('=', 1)[0] ?? '';
  return name.replace(/^%24/i, '$').toLowerCase() === '$skiptoken';
}

function baseOf(request: FastifyRequest, options: LinkOptions): Base {
  const path = pathOf(request);
  const referer = armHeader(request, 'referer');
  const url = referer === undefined || referer.length > 8192 ? undefined : parse(referer, options.allowHttp === true);
  const query = queryOf(request);
  if (url === undefined) {
    const origin = typeof options.origin === 'string' ? options.origin : options.origin(request);
    return { front: origin, path, query };
  }
  // Path before ours in the Referer belongs to a proxy in front; a Referer with another path altogether gives only its origin.
  if (!url.pathname.toLowerCase().endsWith(path.toLowerCase())) return { front: url.origin, path, query };
  const at = url.pathname.length - path.length;
  return {
    front: url.origin + url.pathname.slice(0, at),
    path: url.pathname.slice(at),
    // A link without the api-version could not be followed.
    query: /[?&]api-version=/i.test(url.search) ? url.search.slice(1) : query,
  };
}

/** Only scheme, host, port, path and query are used of it: user information and fragment are dropped. */
function parse(referer: string, allowHttp: boolean): URL | undefined {
  const url = URL.parse(referer);
  if (url === null) return undefined;
  return url.protocol === 'https:' || (allowHttp && url.protocol === 'http:') ? url : undefined;
}

function queryOf(request: FastifyRequest): string {
  const [, query = ''] = /\?([^#]*)/.exec(request.originalUrl) ?? [];
  return query;
}
