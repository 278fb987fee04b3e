// The 403 of a request that no role allows, in the server's own words.
import { StatusError } from '../status.ts';
import type { AccessQuestion, User } from './user.ts';

/** `pods is forbidden: User "x" cannot list resource "pods" in API group "" in the namespace "y"`, with the reason if any. */
export function accessForbidden(user: User, question: AccessQuestion, reason: string): StatusError {
  const message = `${escaped(deniedText(user, question))}${reason === '' ? '' : `: ${reason}`}`;
  if (question.kind === 'path') return new StatusError(403, 'Forbidden', `forbidden: ${message}`, {});
  const { group, resource, name } = question;
  const about = group === '' ? resource : `${resource}.${group}`;
  const named = name === '' ? about : `${about} ${JSON.stringify(name)}`;
  return new StatusError(403, 'Forbidden', `${named} is forbidden: ${message}`, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  });
}

function deniedText(user: User, question: AccessQuestion): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${question.verb}`;
  if (question.kind === 'path') return `${who} path ${JSON.stringify(question.path)}`;
  const { group, subresource, namespace } = question;
  const resource = subresource === '' ? question.resource : `${question.resource}/${subresource}`;
  const what = `${who} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)}`;
  return namespace === '' ? `${what} at the cluster scope` : `${what} in the namespace ${JSON.stringify(namespace)}`;
}

/** The server escapes for browsers, which may show its answers. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
