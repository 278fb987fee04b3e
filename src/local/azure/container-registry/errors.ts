// Errors of the distribution protocol: a list of codes in upper case.
import { ArmError } from '../../../arm/errors.ts';

const statuses = {
  BLOB_UNKNOWN: [404, 'blob unknown to registry'],
  BLOB_UPLOAD_INVALID: [400, 'blob upload invalid'],
  BLOB_UPLOAD_UNKNOWN: [404, 'blob upload unknown to registry'],
  DENIED: [403, 'requested access to the resource is denied'],
  DIGEST_INVALID: [400, 'provided digest did not match uploaded content'],
  MANIFEST_BLOB_UNKNOWN: [400, 'manifest references a manifest or blob unknown to registry'],
  MANIFEST_INVALID: [400, 'manifest invalid'],
  MANIFEST_UNKNOWN: [404, 'manifest unknown to registry'],
  NAME_INVALID: [400, 'invalid repository name'],
  NAME_UNKNOWN: [404, 'repository name not known to registry'],
  PAGINATION_NUMBER_INVALID: [400, 'invalid number of results requested'],
  RANGE_INVALID: [416, 'invalid content range'],
  SIZE_INVALID: [413, 'provided content is too large'],
  TAG_INVALID: [400, 'invalid tag'],
  UNAUTHORIZED: [401, 'authentication required, visit https://aka.ms/acr/authorization for more information.'],
  UNSUPPORTED: [405, 'the operation is unsupported'],
} as const satisfies { readonly [code: string]: readonly [number, string] };

export function registryError(
  code: keyof typeof statuses,
  message?: string,
  headers?: Readonly<Record<string, string>>,
): ArmError {
  const [status, usual] = statuses[code];
  return new ArmError(status, code, message ?? usual, headers === undefined ? {} : { headers });
}
