// The one error that handlers throw, and the errors every resource provider needs. How errors become bytes: error-wire.ts.
import type { ResourceId } from './resource-id.ts';

/** One error as ARM shows it; recursive. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly target?: string;
  readonly details?: readonly ErrorBody[];
  readonly additionalInfo?: readonly { readonly type: string; readonly info: unknown }[];
}

export interface ArmErrorMore {
  /** The member, parameter or resource that is wrong. */
  readonly target?: string;
  readonly details?: readonly ErrorBody[];
  readonly additionalInfo?: ErrorBody['additionalInfo'];
  /** Sent as `Retry-After`. Left out: what error-wire.ts gives the status. */
  readonly retryAfterSeconds?: number;
  /** Further response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only. */
  readonly cause?: unknown;
}

/** An error whose status, code and message are meant for the caller. Everything else a handler throws becomes a bare 500. */
export class ArmError extends Error {
  readonly status: number;
  readonly code: string;
  readonly target: string | undefined;
  readonly details: readonly ErrorBody[];
  readonly additionalInfo: ErrorBody['additionalInfo'];
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, more: ArmErrorMore = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'ArmError';
    this.status = status;
    this.code = code;
    this.target = more.target;
    this.details = more.details ?? [];
    this.additionalInfo = more.additionalInfo;
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.headers = more.headers ?? {};
  }
}

/** The error's body without its envelope; empty members are left out. */
export function errorBody(error: ArmError): ErrorBody {
  return {
    code: error.code,
    message: error.message,
    ...(error.target === undefined || error.target === '' ? {} : { target: error.target }),
    ...(error.details.length === 0 ? {} : { details: error.details }),
    ...(error.additionalInfo === undefined ? {} : { additionalInfo: error.additionalInfo }),
  };
}

/** 400: a parameter of the request, or a value in it, is wrong. */
export function invalidParameter(message: string, target?: string): ArmError {
  return new ArmError(400, 'InvalidParameter', message, target === undefined ? {} : { target });
}

/** 400: the body is not what it should be. */
export function invalidRequestContent(message: string, target?: string): ArmError {
  return new ArmError(400, 'InvalidRequestContent', message, target === undefined ? {} : { target });
}

/** 403, with no hint at what would have been allowed. */
export function forbidden(message = 'The caller is not allowed to make this request.'): ArmError {
  return new ArmError(403, 'Forbidden', message);
}

/** 404 in the words ARM uses for a subscription, a resource group or a resource; the target is the id. */
export function notFound(id: ResourceId): ArmError {
  if (id.types.length > 0) {
    const place =
      id.resourceGroup !== undefined
        ? ` under resource group '${id.resourceGroup}'`
        : id.subscriptionId !== undefined
          ? ` under subscription '${id.subscriptionId}'`
          : '';
    const message = `The resource '${id.type}/${id.names.join('/')}'${place} was not found.`;
    return new ArmError(404, 'ResourceNotFound', message, { target: id.text });
  }
  if (id.resourceGroup !== undefined) {
    const message = `Resource group '${id.resourceGroup}' could not be found.`;
    return new ArmError(404, 'ResourceGroupNotFound', message, { target: id.text });
  }
  const message = `The subscription '${id.subscriptionId ?? ''}' could not be found.`;
  return new ArmError(404, 'SubscriptionNotFound', message, { target: id.text });
}
