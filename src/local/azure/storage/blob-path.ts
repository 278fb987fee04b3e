// Where a blob is, by the path of its address.
import { storageError } from './errors.ts';

/** Decoded; the blob is empty for the address of a container. Throws InvalidUri. */
export function splitPath(path: string): { readonly container: string; readonly blob: string } {
  let decoded: string;
  try {
    decoded = decodeURIComponent(path.replace(/^\//, ''));
  } catch {
    throw storageError(400, 'InvalidUri');
  }
  const at = decoded.indexOf('/');
  return at === -1
    ? { container: decoded, blob: '' }
    : { container: decoded.slice(0, at), blob: decoded.slice(at + 1) };
}
