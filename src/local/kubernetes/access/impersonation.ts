// Acting as somebody else, for those whose roles allow it.
import { PlainRefusal } from '../status.ts';
import { accessForbidden } from './forbidden.ts';
import type { AccessAnswer, AccessQuestion, User } from './user.ts';

const prefix = 'impersonate-';
const extraPrefix = 'extra-';

/**
 * The user that the headers ask to act as, or undefined when they ask for none. Every name, group, uid and extra value must be
 * allowed by the verb `impersonate`; throws StatusError 403 otherwise, and 400 for groups, uid or extra without a user.
 * The headers come raw (name, value, name, value …), since joined ones cannot be told apart from values with commas.
 */
export function impersonated(
  requester: User,
  rawHeaders: readonly string[],
  path: string,
  mayDo: (user: User, question: AccessQuestion) => AccessAnswer,
): User | undefined {
  const headers = impersonationHeaders(rawHeaders);
  if (!headers) return undefined;
  const { name, uid, groups, extra } = headers;
  if (name === '') {
    const asked = requested(headers);
    if (asked === '') return undefined;
    throw new PlainRefusal(
      400,
      'BadRequest',
      `Internal Server Error: ${JSON.stringify(path)}: requested [${asked}] without impersonating a user`,
    );
  }
  const account = serviceAccountOf(name);
  const check = (
    question: Partial<Extract<AccessQuestion, { kind: 'resource' }>> & { resource: string; name: string },
  ) => {
    const whole: AccessQuestion = {
      kind: 'resource',
      verb: 'impersonate',
      group: '',
      version: 'v1',
      subresource: '',
      namespace: '',
      ...question,
    };
    const answer = mayDo(requester, whole);
    if (!answer.allowed) throw accessForbidden(requester, whole, answer.reason);
  };
  if (account) check({ resource: 'serviceaccounts', name: account.name, namespace: account.namespace });
  else check({ resource: 'users', name });
  for (const group of groups) check({ resource: 'groups', name: group });
  const group = 'authentication.k8s.io';
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) check({ resource: 'userextras', subresource: key, name: value, group });
  }
  if (uid !== '') check({ resource: 'uids', name: uid, group });
  return {
    name,
    ...(uid === '' ? {} : { uid }),
    groups: actingGroups(name, groups, account),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}

/** What is asked for beside a user, as the server writes references: kind, namespace, name, uid, version, revision, field. */
function requested({ uid, groups, extra }: Asked): string {
  const version = 'authentication.k8s.io/v1';
  return [
    ...groups.map((name) => `{Group  ${name}    }`),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => `{UserExtra  ${value}  ${version}  ${key}}`),
    ),
    ...(uid === '' ? [] : [`{UID  ${uid}  ${version}  }`]),
  ].join(' ');
}

/** Groups that go without saying: those of a service account, and being authenticated. */
function actingGroups(name: string, asked: readonly string[], account: { namespace: string } | undefined): string[] {
  if (name === 'system:anonymous')
    return asked.includes('system:unauthenticated') ? [...asked] : [...asked, 'system:unauthenticated'];
  const own =
    account && asked.length === 0
      ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]
      : [...asked];
  return own.includes('system:authenticated') || own.includes('system:unauthenticated')
    ? own
    : [...own, 'system:authenticated'];
}

function serviceAccountOf(name: string): { namespace: string; name: string } | undefined {
  const match = /^system:serviceaccount:([a-z0-9-]+):([a-z0-9.-]+)$/.exec(name);
  return match ? { namespace: match[1] ?? '', name: match[2] ?? '' } : undefined;
}

interface Asked {
  name: string;
  uid: string;
  readonly groups: string[];
  readonly extra: Record<string, string[]>;
}

function impersonationHeaders(rawHeaders: readonly string[]): Asked | undefined {
  let asked: Asked | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] ?? '';
    if (header.length <= prefix.length || header.slice(0, prefix.length).toLowerCase() !== prefix) continue;
    asked ??= { name: '', uid: '', groups: [], extra: {} };
    const what = header.slice(prefix.length).toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    if (what === 'user') asked.name ||= value;
    else if (what === 'uid') asked.uid ||= value;
    else if (what === 'group') asked.groups.push(value);
    else if (what.startsWith(extraPrefix)) {
      const key = decoded(what.slice(extraPrefix.length));
      asked.extra[key] = [...(Object.hasOwn(asked.extra, key) ? (asked.extra[key] ?? []) : []), value];
    }
  }
  return asked;
}

/** Keys with characters that headers cannot have come percent-encoded; one that is not is taken as it stands. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key).toLowerCase();
  } catch {
    return key;
  }
}
