// Where a list that came in pages goes on: the revision it began at and the last key given, in the server's own form.
import { JsonTextError, parseJson } from '../schema/json-text.ts';
import { badRequest, gone, StatusError } from '../status.ts';

export interface Position {
  /** -1: whatever is current. */
  readonly revision: number;
  /** `namespace/name` of the last entry given. */
  readonly after: readonly [namespace: string, name: string];
  /** How many entries were left then; undefined where the list has selectors. */
  readonly remaining: number | undefined;
}

/** Tokens start at the key after the last one given. Keys are relative to what is listed: one namespace, or all. */
export function encodePosition(position: Position, namespace: string | undefined): string {
  const [itsNamespace, name] = position.after;
  const start = namespace === undefined && itsNamespace ? `${itsNamespace}/${name}\0` : `/${name}\0`;
  return Buffer.from(
    JSON.stringify({ v: 'meta.k8s.io/v1', rv: position.revision, start, left: position.remaining }),
  ).toString('base64url');
}

const refuse = (why: string): Error => badRequest(`invalid continue token: continue key is not valid: ${why}`);

export function decodePosition(token: string, namespace: string | undefined): Position {
  const good = /^[\w-]*/.exec(token)?.[0].length ?? 0;
  if (good < token.length || good % 4 === 1) {
    throw refuse(`illegal base64 data at input byte ${good < token.length ? good : good - 1}`);
  }
  let read: unknown;
  try {
    read = parseJson(Buffer.from(token, 'base64url').toString()).value;
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw refuse(error.message);
  }
  const { v, rv, start, left } = (typeof read === 'object' && read !== null ? read : {}) as Record<string, unknown>;
  if (v !== 'meta.k8s.io/v1') throw refuse(`server does not recognize this encoded version ${String(v ?? '')}`);
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0) {
    throw refuse('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') throw refuse('encoded start key empty (version meta.k8s.io/v1)');
  const key = start.endsWith('\0') ? start.slice(0, -1) : start;
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  if (name.includes('/')) throw refuse(start);
  return {
    revision: rv,
    after: [slash <= 0 ? (namespace ?? '') : key.slice(0, slash), name],
    remaining: typeof left === 'number' ? left : undefined,
  };
}

/** The refusal of a token whose revision is forgotten, with another token to go on from the same place regardless. */
export function expired(position: Position, namespace: string | undefined): StatusError {
  const error = new StatusError(
    410,
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  );
  const token = encodePosition({ ...position, revision: -1, remaining: undefined }, namespace);
  return Object.assign(error, { status: { ...error.status, metadata: { continue: token } } });
}

export const listTooOld = (): StatusError => gone('The resourceVersion for the provided list is too old.');
