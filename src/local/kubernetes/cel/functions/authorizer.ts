// Questions about access in expressions of admission: `authorizer.group('apps').resource('deployments').check('create').allowed()`.
import type { AccessAnswer, AccessQuestion, User } from '../../access/user.ts';
import type { Budget } from '../budget.ts';
import type { Declaration } from '../overloads.ts';
import { opaqueNames } from '../types.ts';
import { CelError, Opaque } from '../values.ts';

type ResourceQuestion = Extract<AccessQuestion, { kind: 'resource' }>;

/** Who asks, and who answers. */
interface Asking {
  readonly user: User;
  readonly mayDo: (user: User, question: AccessQuestion) => AccessAnswer;
}

interface Check<Question> extends Asking {
  readonly question: Question;
}

/** Each is a value of its own: nobody compares them. */
const made = (name: keyof typeof opaqueNames, value: unknown): Opaque => new Opaque(opaqueNames[name], value, '');

/** The authorizer of a request. */
export const authorizerOf = (user: User, mayDo: Asking['mayDo']): Opaque => made('authorizer', { user, mayDo });

/** A check of the resource that a request is about. */
export const resourceCheckOf = (
  user: User,
  mayDo: Asking['mayDo'],
  of: Pick<ResourceQuestion, 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>,
): Opaque => made('resourceCheck', { user, mayDo, question: { ...wholeResource, ...of } });

const wholeResource: ResourceQuestion = {
  kind: 'resource',
  verb: '',
  group: '',
  version: '*',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
};

const of = <Value>({ value }: Opaque): Value => value as Value;

const narrowed =
  (part: 'subresource' | 'namespace' | 'name') =>
  (check: Opaque, text: string): Opaque => {
    const { question, ...asking } = of<Check<ResourceQuestion>>(check);
    return made('resourceCheck', { ...asking, question: { ...question, [part]: text } });
  };

/** What one question costs, as the server counts it. */
const costOfCheck = 350_000;

function decide(check: Opaque, verb: string, budget: Budget): Opaque {
  budget.spend(costOfCheck);
  const { user, mayDo, question } = of<Check<AccessQuestion>>(check);
  return made('decision', mayDo(user, { ...question, verb }));
}

const accountName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const namespaceName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

function asAccount(authorizer: Opaque, namespace: string, name: string): Opaque {
  if (!accountName.test(name)) throw new CelError('Invalid service account name');
  if (!namespaceName.test(namespace)) throw new CelError('Invalid service account namespace');
  const user: User = {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  };
  return made('authorizer', { ...of<Asking>(authorizer), user });
}

const answer = (decision: Opaque): AccessAnswer => of<AccessAnswer>(decision);

export const authorizerFunctions: readonly Declaration[] = [
  [
    '.path(authorizer, string): pathCheck',
    (authorizer: Opaque, path: string) => {
      if (path.trim() === '') throw new CelError('path must not be empty');
      return made('pathCheck', { ...of<Asking>(authorizer), question: { kind: 'path', verb: '', path } });
    },
  ],
  [
    '.group(authorizer, string): groupCheck',
    (authorizer: Opaque, group: string) => made('groupCheck', { ...of<Asking>(authorizer), question: { group } }),
  ],
  ['.serviceAccount(authorizer, string, string): authorizer', asAccount],
  [
    '.resource(groupCheck, string): resourceCheck',
    (check: Opaque, resource: string) => {
      if (resource.trim() === '') throw new CelError('resource must not be empty');
      const { question, ...asking } = of<Check<{ readonly group: string }>>(check);
      return made('resourceCheck', { ...asking, question: { ...wholeResource, ...question, resource } });
    },
  ],
  ['.subresource(resourceCheck, string): resourceCheck', narrowed('subresource')],
  ['.namespace(resourceCheck, string): resourceCheck', narrowed('namespace')],
  ['.name(resourceCheck, string): resourceCheck', narrowed('name')],
  // Roles know nothing of selectors.
  ['.fieldSelector(resourceCheck, string): resourceCheck', (check: Opaque) => check],
  ['.labelSelector(resourceCheck, string): resourceCheck', (check: Opaque) => check],
  ['.check(pathCheck, string): decision', decide],
  ['.check(resourceCheck, string): decision', decide],
  ['.allowed(decision): bool', (decision: Opaque) => answer(decision).allowed],
  ['.reason(decision): string', (decision: Opaque) => answer(decision).reason],
  ['.errored(decision): bool', () => false],
  ['.error(decision): string', () => ''],
];
