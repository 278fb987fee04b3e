// Refusals of patches, in the server's words.
import type { JsonValue } from '../object.ts';
import { badRequest, StatusError } from '../status.ts';

/** A JSON patch that cannot be carried out: the server does not say why. */
export const unprocessable = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

/**
 * A patch the merge cannot make sense of. A kube-apiserver answers these with a bare 500, though the fault is the client's;
 * here they are bad requests with the same message.
 */
export const unmergeable = (message: string): StatusError => badRequest(message);

/** The kind of a JSON value as Go's decoder names it in its messages. */
export function goJsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return value === null ? 'null' : typeof value;
}

/** A JSON value as Go's `%v` prints it, which the server's messages do: `map[a:1 b:[x y]]`. */
export function goPrint(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goPrint).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  return `map[${Object.keys(value)
    .sort()
    .map((member) => `${member}:${goPrint(value[member])}`)
    .join(' ')}]`;
}
