// What goes wrong when Azure is asked for something, in one form: the code and the words Azure gives, and what a person can do.

export interface ErrorDetail {
  readonly code: string;
  readonly message: string;
  readonly target?: string;
  readonly details?: readonly ErrorDetail[];
}

export interface AzureErrorOptions {
  /** Of the answer; undefined when there was none. */
  readonly status?: number;
  readonly code: string;
  readonly message: string;
  /** What the error is about: a member of the body, or a resource. */
  readonly target?: string;
  readonly details?: readonly ErrorDetail[];
  /** How long the service asks to wait before the next attempt. */
  readonly retryAfterMs?: number;
  /** To quote when asking for support. */
  readonly requestId?: string;
  readonly cause?: unknown;
}

/** An error of Azure or on the way there. */
export class AzureError extends Error {
  readonly status: number | undefined;
  readonly code: string;
  readonly target: string | undefined;
  readonly details: readonly ErrorDetail[];
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;

  constructor(options: AzureErrorOptions) {
    super(options.message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'AzureError';
    this.status = options.status;
    this.code = options.code;
    this.target = options.target;
    this.details = options.details ?? [];
    this.retryAfterMs = options.retryAfterMs;
    this.requestId = options.requestId;
  }

  /** What a person can do about it; undefined when the message says all there is. */
  get advice(): string | undefined {
    return adviceFor(this);
  }
}

/** Whether an error is Azure's, with one of these codes when any are given. */
export function isAzureError(error: unknown, ...codes: readonly string[]): error is AzureError {
  return error instanceof AzureError && (codes.length === 0 || codes.includes(error.code));
}

export function isNotFound(error: unknown): boolean {
  return error instanceof AzureError && error.status === 404;
}

/** No answer came: the connection was refused, ended, or timed out. Whether the request had its effect is not known. */
export const noAnswer = 'NoAnswer';
/** Entra ID gave no token. */
export const noToken = 'NoToken';

export interface WireAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | undefined };
  readonly body: unknown;
}

const textMax = 2000;

/** The error that an answer stands for, whatever its body looks like. */
export function errorOfAnswer(answer: WireAnswer, what: string, now: number = Date.now()): AzureError {
  const { status, headers, body } = answer;
  const found = errorIn(body);
  const retryAfterMs = retryAfterOf(headers, now);
  const requestId = headers['x-ms-request-id'];
  return new AzureError({
    status,
    code: found?.code || headers['x-ms-error-code'] || `Http${status}`,
    message: found?.message || `${what} was answered with status ${status}.`,
    ...(found?.target === undefined ? {} : { target: found.target }),
    ...(found?.details === undefined ? {} : { details: found.details }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(requestId === undefined ? {} : { requestId }),
  });
}

/** `{error: {…}}` as of ARM, `{code, message}` as of some providers, `{error, error_description}` as of Entra ID. */
export function errorIn(body: unknown): ErrorDetail | undefined {
  if (typeof body === 'string') return parsedError(body);
  if (!isRecord(body)) return undefined;
  const { error } = body;
  if (isRecord(error)) return detailOf(error);
  if (typeof error === 'string') return { code: error, message: textOf(body.error_description) };
  const odata = body['odata.error'];
  if (isRecord(odata)) return detailOf(odata);
  return typeof body.code === 'string' || typeof body.message === 'string' ? detailOf(body) : undefined;
}

function parsedError(text: string): ErrorDetail | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isRecord(parsed)) return errorIn(parsed);
  } catch {
    // A page of a proxy, or nothing.
  }
  return undefined;
}

function detailOf(error: Record<string, unknown>, depth = 0): ErrorDetail {
  const { code, target, details } = error;
  const inner =
    Array.isArray(details) && depth < 10
      ? details.filter(isRecord).map((detail) => detailOf(detail, depth + 1))
      : undefined;
  return {
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : '',
    message: textOf(error.message),
    ...(typeof target === 'string' ? { target } : {}),
    ...(inner && inner.length > 0 ? { details: inner } : {}),
  };
}

function textOf(value: unknown): string {
  const text = isRecord(value) ? value.value : value;
  return typeof text === 'string' ? text.slice(0, textMax) : '';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** In seconds or as a date, or in milliseconds under the names that some services use. */
export function retryAfterOf(headers: WireAnswer['headers'], now: number): number | undefined {
  const ms = headers['retry-after-ms'] ?? headers['x-ms-retry-after-ms'];
  if (ms !== undefined && /^\d{1,9}$/.test(ms)) return Number(ms);
  const given = headers['retry-after'];
  if (given === undefined) return undefined;
  if (/^\d{1,6}$/.test(given)) return Number(given) * 1000;
  const date = Date.parse(given);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Any error as one of Azure's: those of credentials and connections get codes of their own. */
export function asAzureError(error: unknown, what: string): AzureError {
  if (error instanceof AzureError) return error;
  const { name, message, statusCode, code, errorResponse, request } = (error ?? {}) as Partial<SdkError>;
  const text = typeof message === 'string' ? message : String(error);
  if (name === 'AuthenticationError' || name === 'AuthenticationRequiredError' || errorResponse !== undefined) {
    const aadsts = /AADSTS\d+/.exec(text)?.[0];
    return new AzureError({
      ...(typeof statusCode === 'number' ? { status: statusCode } : {}),
      code: aadsts ?? noToken,
      message: firstLine(errorResponse?.errorDescription ?? text),
      cause: error,
    });
  }
  if (name === 'CredentialUnavailableError' || name === 'AggregateAuthenticationError') {
    return new AzureError({ code: noToken, message: firstLine(text), cause: error });
  }
  if (typeof statusCode === 'number' && statusCode >= 400) {
    return new AzureError({
      status: statusCode,
      code: code ?? `Http${statusCode}`,
      message: firstLine(text),
      cause: error,
    });
  }
  const where = request?.url && URL.canParse(request.url) ? ` (${new URL(request.url).host})` : '';
  return new AzureError({
    code: noAnswer,
    message: `${what} was not answered${where}: ${firstLine(text)}`,
    cause: error,
  });
}

/** What the errors of Azure's SDKs have, as far as it is used. */
interface SdkError {
  readonly name: string;
  readonly message: string;
  readonly statusCode: number;
  readonly code: string;
  readonly errorResponse: { readonly errorDescription?: string };
  readonly request: { readonly url?: string };
}

function firstLine(text: string): string {
  return (text.split(/[\r\n]/, 1)[0] ?? '').slice(0, textMax);
}

/** By code; the first that fits. */
const advices: readonly (readonly [code: RegExp, advice: string])[] = [
  [
    /^NoAnswer$/,
    'Check that the address can be reached from here and that its certificate is trusted (AZURE_CA_FILE, AZURE_PROXY_URL).',
  ],
  [/^AADSTS7000215$/, 'The client secret is wrong. Set AZURE_CLIENT_SECRET to the value of the secret, not to its id.'],
  [/^AADSTS7000222$/, 'The client secret has expired. Make a new one for the application.'],
  [/^AADSTS700016$/, 'The application is not known in this tenant. Check AZURE_CLIENT_ID and AZURE_TENANT_ID.'],
  [
    /^(NoToken|AADSTS\d+)$/,
    'Check the credential: AZURE_TENANT_ID, AZURE_CLIENT_ID and the secret, certificate or token file, or run "az login".',
  ],
  [
    /^(LinkedAuthorizationFailed|AuthorizationFailed|Forbidden)$/,
    'Give the caller a role that allows the action at this scope, for example Owner for a whole deployment. New role assignments can take minutes to count.',
  ],
  [
    /^(SubscriptionNotFound|InvalidSubscriptionId)$/,
    'Check the id of the subscription and that the credential is of its tenant. A local cloud gets more with aro local azure --subscription <id...>',
  ],
  [
    /^(MissingSubscriptionRegistration|SubscriptionNotRegistered)$/,
    'Register the resource provider in the subscription: az provider register --namespace <namespace>.',
  ],
  [
    /^(QuotaExceeded|OperationNotAllowed|SkuNotAvailable)$/,
    'Ask for more quota in this location, or choose another size or location.',
  ],
  [
    /^(DeploymentActive|AnotherOperationInProgress|RetryableError)$/,
    'Something else is under way on the same resource. Wait for it to end, then try again.',
  ],
  [/^(ScopeLocked)$/, 'Remove the lock on the resource or its group first.'],
  [
    /^(VaultAlreadyExists|StorageAccountAlreadyTaken|NameAlreadyExists|AlreadyInUse|ConflictError|NameUnavailable)$/,
    'The name is taken by somebody else. Choose another in the parameters of the environment. A deleted vault keeps its name until it is purged.',
  ],
  [
    /^(InvalidTemplate|InvalidTemplateDeployment|InvalidDeployment)/,
    'The template or its parameters are wrong; the message says where.',
  ],
];

function adviceFor(error: AzureError): string | undefined {
  const codes = [error.code, ...error.details.map(({ code }) => code)];
  for (const code of codes.reverse()) {
    const found = advices.find(([form]) => form.test(code));
    if (found) return found[1];
  }
  return undefined;
}
