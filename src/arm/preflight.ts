// Preflight: a deployment's resources are checked before any of it starts. The verdict is in the body; the status is always 200.
import { ArmError, type ErrorBody, errorBody } from './errors.ts';
import { isRecord } from './record.ts';
import { foldCase } from './resource-id.ts';

export interface PreflightResource {
  readonly id?: string;
  readonly name: string;
  /** Full type, in the case the template has it. */
  readonly type: string;
  readonly apiVersion: string;
  readonly location?: string;
  /** All members, as they came. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** Answers everything wrong with the resource; empty when it may be created. */
export type PreflightValidator = (resource: PreflightResource) => readonly ErrorBody[] | Promise<readonly ErrorBody[]>;

export interface PreflightOptions {
  /** By type in lower case. A resource of a type that has no row is somebody else's and passes. */
  readonly types: Readonly<
    Record<string, { readonly apiVersions: readonly string[]; readonly validate: PreflightValidator }>
  >;
  /** Tells the operator about a validator that threw; the caller gets an error without detail. */
  readonly onError?: (error: unknown) => void;
}

export type PreflightAnswer =
  | { readonly status: 'Succeeded' }
  | { readonly status: 'Failed'; readonly error: ErrorBody };

const resourcesMax = 800;

/** Checks all resources and reports all that fail. Never throws. */
export async function preflight(body: unknown, options: PreflightOptions): Promise<PreflightAnswer> {
  const resources = isRecord(body) ? body.resources : undefined;
  if (!Array.isArray(resources)) return failed([invalid('The body must have an array named resources.', 'resources')]);
  if (resources.length > resourcesMax) {
    return failed([invalid(`A deployment has at most ${resourcesMax} resources.`, 'resources')]);
  }
  const errors: ErrorBody[] = [];
  for (const [index, entry] of resources.entries()) {
    const error = await checkEntry(entry, `resources[${index}]`, options);
    if (error) errors.push(error);
  }
  return errors.length === 0 ? { status: 'Succeeded' } : failed(errors);
}

async function checkEntry(entry: unknown, place: string, options: PreflightOptions): Promise<ErrorBody | undefined> {
  if (!isRecord(entry)) return invalid('Each resource must be an object.', place);
  // What a template expression will become is not known before the deployment runs.
  if (hasTemplateExpression(entry)) return undefined;
  const { name, type, apiVersion, id, location } = entry;
  if (typeof type !== 'string' || type === '') return invalid('The resource must have a type.', `${place}.type`);
  const known = Object.hasOwn(options.types, foldCase(type)) ? options.types[foldCase(type)] : undefined;
  if (known === undefined) return undefined;
  if (typeof name !== 'string' || name === '') return invalid('The resource must have a name.', `${place}.name`);
  const target = typeof id === 'string' && id !== '' ? id : place;
  const version = known.apiVersions.find((one) => one.toLowerCase() === String(apiVersion).toLowerCase());
  if (typeof apiVersion !== 'string' || version === undefined) {
    const details = [invalid(`The apiVersion must be one of: ${known.apiVersions.join(', ')}.`, `${place}.apiVersion`)];
    return contentError(name, target, details);
  }
  const resource: PreflightResource = {
    name,
    type,
    apiVersion: version,
    members: entry,
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof location === 'string' ? { location } : {}),
  };
  let details: readonly ErrorBody[];
  try {
    details = await known.validate(resource);
  } catch (error) {
    if (error instanceof ArmError) details = flatten(errorBody(error));
    else {
      options.onError?.(error);
      details = [{ code: 'InternalServerError', message: 'The resource could not be checked. Try again.' }];
    }
  }
  return details.length === 0 ? undefined : contentError(name, target, details.flatMap(flatten));
}

function contentError(name: string, target: string, details: readonly ErrorBody[]): ErrorBody {
  const code = details[0]?.code ?? 'InvalidRequestContent';
  return { code, message: `Content validation failed for '${name}'`, target, details };
}

function failed(errors: readonly ErrorBody[]): PreflightAnswer {
  const [first] = errors;
  if (first !== undefined && errors.length === 1) return { status: 'Failed', error: first };
  const message = `${errors.length} errors occurred`;
  return { status: 'Failed', error: { code: 'MultipleErrorsOccurred', message, details: errors } };
}

function flatten(error: ErrorBody): readonly ErrorBody[] {
  return error.details !== undefined && error.details.length > 0 ? error.details.flatMap(flatten) : [error];
}

/** Any member name or text value of the form `[…]`. The body's depth was bounded when it was parsed. */
function hasTemplateExpression(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith('[') && value.endsWith(']');
  if (Array.isArray(value)) return value.some(hasTemplateExpression);
  if (!isRecord(value)) return false;
  return Object.entries(value).some(([name, member]) => hasTemplateExpression(name) || hasTemplateExpression(member));
}

function invalid(message: string, target: string): ErrorBody {
  return { code: 'InvalidRequestContent', message, target };
}
