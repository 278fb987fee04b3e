// The one error of the API server: a Kubernetes Status. Everything that refuses a request throws one of these, built by the
// functions here, so that codes, reasons and wording live in one place.

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

export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** Which resource an error is about: its group and plural, as in `deployments.apps "web" not found`. */
export interface Subject {
  readonly group: string;
  readonly resource: string;
}

export class StatusError extends Error {
  readonly status: Status & { readonly code: number };

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.name = 'StatusError';
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      ...(details ? { details } : {}),
      code,
    };
  }
}

/** A refusal that the server gives as plain text, from before it looks at what form the client wants. */
export class PlainRefusal extends StatusError {}

const qualified = ({ group, resource }: Subject): string => (group ? `${resource}.${group}` : resource);
const about = ({ group, resource }: Subject, name: string, more: StatusDetails = {}): StatusDetails => ({
  ...(name ? { name } : {}),
  ...(group ? { group } : {}),
  kind: resource,
  ...more,
});

export const notFound = (subject: Subject, name: string): StatusError =>
  new StatusError(404, 'NotFound', `${qualified(subject)} "${name}" not found`, about(subject, name));

export const alreadyExists = (subject: Subject, name: string): StatusError =>
  new StatusError(409, 'AlreadyExists', `${qualified(subject)} "${name}" already exists`, about(subject, name));

export const conflict = (subject: Subject, name: string, why: string, causes?: readonly StatusCause[]): StatusError =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${why}`,
    about(subject, name, causes ? { causes } : {}),
  );

export const objectModified = (subject: Subject, name: string): StatusError =>
  conflict(
    subject,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );

export const forbidden = (subject: Subject, name: string, why: string): StatusError =>
  new StatusError(
    403,
    'Forbidden',
    name ? `${qualified(subject)} "${name}" is forbidden: ${why}` : `${qualified(subject)} is forbidden: ${why}`,
    about(subject, name),
  );

export const unauthorized = (): StatusError => new StatusError(401, 'Unauthorized', 'Unauthorized');

export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message);

export const methodNotAllowed = (subject: Subject, verb: string): StatusError =>
  new StatusError(
    405,
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind "${qualified(subject)}"`,
    about(subject, ''),
  );

export const unsupportedMediaType = (supported: readonly string[]): StatusError =>
  new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`,
  );

export const notAcceptable = (supported: readonly string[]): StatusError =>
  new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${supported.join(', ')}`);

export const tooLarge = (message: string): StatusError => new StatusError(413, 'RequestEntityTooLarge', message);

export const gone = (message: string): StatusError => new StatusError(410, 'Expired', message);

/** The field errors of a validation, in the server's wording: `Deployment.apps "x" is invalid: [a, b]`. */
export function invalid(
  kind: { group: string; kind: string },
  name: string,
  causes: readonly FieldError[],
): StatusError {
  const title = kind.group ? `${kind.kind}.${kind.group}` : kind.kind;
  // The same is told once, however many causes say it.
  const texts = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new StatusError(422, 'Invalid', `${title} "${name}" is invalid: ${list}`, {
    ...(name ? { name } : {}),
    ...(kind.group ? { group: kind.group } : {}),
    ...(kind.kind ? { kind: kind.kind } : {}),
    causes: causes.map(({ type, field, message }) => ({ reason: type, message, field })),
  });
}

/** `type` is the cause's reason: FieldValueRequired, FieldValueInvalid, FieldValueNotSupported … */
export interface FieldError {
  readonly type: string;
  readonly field: string;
  /** With its prefix: `Required value`, `Invalid value: "x": must be …`. */
  readonly message: string;
}
