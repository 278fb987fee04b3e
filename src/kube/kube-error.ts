// The one error of the API: a refusal by the server, with the Status it sent.

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface KubeErrorInit {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: StatusDetails;
  readonly retryAfterSeconds?: number;
}

/** The server refused. `message` is its own text; `reason` is the word that programs go by. */
export class KubeError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails;
  /** How long the server asked to wait before trying again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(init: KubeErrorInit) {
    super(init.message);
    this.name = 'KubeError';
    this.code = init.code;
    this.reason = init.reason;
    this.details = init.details ?? {};
    this.retryAfterSeconds = init.retryAfterSeconds ?? init.details?.retryAfterSeconds;
  }
}

/** The server could not be reached, or broke off before its answer was whole. Whether the request took effect is not known. */
export class KubeConnectionError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'KubeConnectionError';
  }
}

/** Reasons for answers that come without a Status, as from a proxy in between. */
const reasonByCode: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

const longestText = 500;

/** Makes the error of an answer that is no success. `body` may be a Status, other text, or nothing. */
export function errorFromAnswer(code: number, body: string, retryAfter?: string | readonly string[]): KubeError {
  const wait = secondsOf(retryAfter);
  const more = wait === undefined ? {} : { retryAfterSeconds: wait };
  const status = statusOf(body);
  if (status) return errorFromStatus(status, code, more);
  const reason = reasonByCode[code] ?? 'Unknown';
  const text = body.trim().slice(0, longestText);
  return new KubeError({ code, reason, message: text || `the server answered ${code} (${reason})`, ...more });
}

/** Makes the error of a Status, as an answer or as the object of an `ERROR` event. */
export function errorFromStatus(
  status: Readonly<Record<string, unknown>>,
  code = 500,
  more: { readonly retryAfterSeconds?: number } = {},
): KubeError {
  const own = typeof status.code === 'number' ? status.code : code;
  const reason = typeof status.reason === 'string' && status.reason ? status.reason : (reasonByCode[own] ?? 'Unknown');
  const message =
    typeof status.message === 'string' && status.message ? status.message : `the server answered ${own} (${reason})`;
  const details = typeof status.details === 'object' && status.details ? (status.details as StatusDetails) : {};
  return new KubeError({ code: own, reason, message, details, ...more });
}

function statusOf(body: string): Readonly<Record<string, unknown>> | undefined {
  if (!body.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value && 'kind' in value && value.kind === 'Status'
      ? (value as unknown as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** `Retry-After` in seconds, or as a date. */
function secondsOf(header: string | readonly string[] | undefined): number | undefined {
  const text = typeof header === 'string' ? header : header?.[0];
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}

const withReason =
  (...reasons: readonly string[]) =>
  (error: unknown): error is KubeError =>
    error instanceof KubeError && reasons.includes(error.reason);

const withCode =
  (code: number) =>
  (error: unknown): error is KubeError =>
    error instanceof KubeError && error.code === code;

export const isNotFound = withCode(404);
export const isAlreadyExists = withReason('AlreadyExists');
/** The object has changed since it was read, or another manager owns a field that was applied. */
export const isConflict = withReason('Conflict');
export const isInvalid = withReason('Invalid');
export const isForbidden = withCode(403);
export const isUnauthorized = withCode(401);
export const isTooManyRequests = withCode(429);
/** The version to start from is no longer kept: list again. */
export const isExpired = (error: unknown): error is KubeError =>
  error instanceof KubeError && (error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone');
/** The version to start from is newer than anything the server has, as after a restore from a backup: list again. */
export const isVersionTooLarge = (error: unknown): error is KubeError =>
  error instanceof KubeError &&
  (error.details.causes?.some((cause) => cause.reason === 'ResourceVersionTooLarge') ||
    error.message.includes('Too large resource version'));
/** The object's namespace is being deleted: nothing can be created in it any more. */
export const isNamespaceTerminating = (error: unknown): error is KubeError =>
  error instanceof KubeError &&
  (error.details.causes?.some((cause) => cause.reason === 'NamespaceTerminating') ?? false);

/** What a person can do about an error, where that can be told from the error alone. */
export function advice(error: unknown): string | undefined {
  if (error instanceof KubeConnectionError) return 'check that the API server runs and can be reached from here';
  if (isUnauthorized(error)) return 'the credentials are not accepted: check the kubeconfig, token or certificate';
  if (isForbidden(error)) return 'grant this identity the verb and resource by a Role or ClusterRole binding';
  if (isInvalid(error))
    return 'the object breaks the rules of its schema: trying again will not help until one of them changes';
  if (isConflict(error))
    return 'another writer was faster, or owns the field; this is tried again from the newest state';
  if (isTooManyRequests(error)) return 'the API server asks to slow down; this is tried again';
  return undefined;
}
