// Options in the query, as the server reads and checks them.

import { isObject } from '../patch/json-tree.ts';
import type { DeleteOptions, ListQuery, WatchQuery } from '../registry/registry.ts';
import { decodeAs } from '../schema/decode.ts';
import { invalidValue } from '../schema/field-errors.ts';
import { badRequest, type FieldError, invalid } from '../status.ts';
import type { BodyFormat } from './body.ts';
import { bodyProblem, parseBody } from './body.ts';
import { isTrue } from './request-info.ts';

const integerForm = /^[+-]?\d+$/;

/** An integer in the query. Refuses with 400 what is none. */
export function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!integerForm.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  }
  return value;
}

export function flag(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  return text === null ? undefined : isTrue(text);
}

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string | undefined;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  readonly force: boolean | undefined;
}

const usual: WriteOptions = { dryRun: false, fieldManager: undefined, fieldValidation: 'Warn', force: undefined };
const longestManager = 128;
const notPrintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions';

export function writeOptions(query: URLSearchParams, kind: OptionsKind, isApply = false): WriteOptions {
  if (query.size === 0 && !isApply) return usual;
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  const fieldManager = query.get('fieldManager') ?? undefined;
  const fieldValidation = query.get('fieldValidation') ?? '';
  const force = kind === 'PatchOptions' ? flag(query, 'force') : undefined;
  const errors: FieldError[] = [];
  if (kind === 'PatchOptions') {
    if (isApply && !fieldManager) {
      errors.push({
        type: 'FieldValueRequired',
        field: 'fieldManager',
        message: 'Required value: is required for apply patch',
      });
    } else if (!isApply && force !== undefined) {
      errors.push({
        type: 'FieldValueForbidden',
        field: 'force',
        message: 'Forbidden: may not be specified for non-apply patch',
      });
    }
  }
  if (fieldManager !== undefined && Buffer.byteLength(fieldManager) > longestManager) {
    errors.push({
      type: 'FieldValueTooLong',
      field: 'fieldManager',
      message: `Too long: may not be more than ${longestManager} bytes`,
    });
  } else if (fieldManager !== undefined) {
    for (const { 0: character, index } of fieldManager.matchAll(notPrintable)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      const at = Buffer.byteLength(fieldManager.slice(0, index));
      errors.push(invalidValue('fieldManager', fieldManager, `invalid character U+${code} (at position ${at})`));
    }
  }
  errors.push(...dryRunErrors(dryRun));
  if (fieldValidation !== '' && !isValidation(fieldValidation)) {
    errors.push({
      type: 'FieldValueNotSupported',
      field: 'fieldValidation',
      message: `Unsupported value: ${JSON.stringify(fieldValidation)}: supported values: "", "Ignore", "Strict", "Warn"`,
    });
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: isValidation(fieldValidation) ? fieldValidation : 'Warn',
    force,
  };
}

function dryRunErrors(given: readonly unknown[]): FieldError[] {
  if (given.every((value) => value === 'All')) return [];
  return [
    {
      type: 'FieldValueNotSupported',
      field: 'dryRun',
      message: `Unsupported value: ${JSON.stringify(given)}: supported values: "All"`,
    },
  ];
}

const isValidation = (text: string): text is WriteOptions['fieldValidation'] =>
  text === 'Ignore' || text === 'Warn' || text === 'Strict';

const text = (query: URLSearchParams, name: string): string | undefined => query.get(name) || undefined;

export function listQuery(query: URLSearchParams, namespace: string): ListQuery {
  if (query.size === 0) return namespace === '' ? {} : { namespace };
  if (query.has('sendInitialEvents')) {
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [
      {
        type: 'FieldValueForbidden',
        field: 'sendInitialEvents',
        message: 'Forbidden: sendInitialEvents is forbidden for list',
      },
    ]);
  }
  integer(query, 'timeoutSeconds');
  return definedOnly({
    namespace: namespace || undefined,
    labelSelector: text(query, 'labelSelector'),
    fieldSelector: text(query, 'fieldSelector'),
    limit: integer(query, 'limit'),
    continue: text(query, 'continue'),
    resourceVersion: text(query, 'resourceVersion'),
    resourceVersionMatch: text(query, 'resourceVersionMatch'),
  });
}

export function watchQuery(query: URLSearchParams, namespace: string): WatchQuery {
  integer(query, 'limit');
  return {
    ...definedOnly({
      namespace: namespace || undefined,
      labelSelector: text(query, 'labelSelector'),
      fieldSelector: text(query, 'fieldSelector'),
      resourceVersion: text(query, 'resourceVersion'),
      resourceVersionMatch: text(query, 'resourceVersionMatch'),
      continue: text(query, 'continue'),
    }),
    allowBookmarks: flag(query, 'allowWatchBookmarks') ?? false,
    sendInitialEvents: flag(query, 'sendInitialEvents') ?? false,
    initialEventsAsked: query.has('sendInitialEvents'),
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function definedOnly<T extends object>(object: T): Defined<T> {
  for (const member of Object.keys(object) as (keyof T)[]) if (object[member] === undefined) delete object[member];
  return object as Defined<T>;
}

const policies = new Set(['Orphan', 'Background', 'Foreground']);

export interface DeleteRequest {
  readonly options: DeleteOptions;
  readonly dryRun: boolean;
}

/** Delete options, from the body where there is one, else from the query. */
export async function deleteRequest(
  query: URLSearchParams,
  body: Buffer,
  format: BodyFormat | undefined,
  tenant: string,
): Promise<DeleteRequest> {
  const given = body.length > 0 ? await optionsInBody(body, format ?? 'json', tenant) : undefined;
  const errors: FieldError[] = [];
  const policy = given ? given.propagationPolicy : (query.get('propagationPolicy') ?? undefined);
  const orphan = given ? given.orphanDependents : flag(query, 'orphanDependents');
  if (policy !== undefined && orphan !== undefined) {
    errors.push({
      type: 'FieldValueInvalid',
      field: 'propagationPolicy',
      message: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
    });
  }
  if (policy !== undefined && policy !== '' && !policies.has(policy)) {
    errors.push({
      type: 'FieldValueNotSupported',
      field: 'propagationPolicy',
      message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`,
    });
  }
  const dryRun = given ? (given.dryRun ?? []) : query.getAll('dryRun').filter((value) => value !== '');
  errors.push(...dryRunErrors(dryRun));
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  const propagationPolicy =
    (policy as DeleteOptions['propagationPolicy']) ||
    (orphan === undefined ? undefined : orphan ? 'Orphan' : 'Background');
  return {
    dryRun: dryRun.length > 0,
    options: definedOnly({
      gracePeriodSeconds: given ? given.gracePeriodSeconds : integer(query, 'gracePeriodSeconds'),
      propagationPolicy,
      preconditions: given?.preconditions,
    }),
  };
}

interface BodyOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: string | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly preconditions: { uid?: string; resourceVersion?: string } | undefined;
  readonly dryRun: readonly string[] | undefined;
}

const deleteOptions = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

async function optionsInBody(bytes: Buffer, format: BodyFormat, tenant: string): Promise<BodyOptions> {
  let value: unknown;
  try {
    ({ value } = await parseBody(bytes, format, tenant));
  } catch (error) {
    const problem = bodyProblem(error);
    throw problem === undefined ? error : badRequest(problem);
  }
  const read = isObject(value) ? value : {};
  if (read.kind !== undefined && read.kind !== '' && read.kind !== 'DeleteOptions') {
    throw badRequest(
      `no kind "${String(read.kind)}" is registered for version "${String(read.apiVersion ?? 'meta.k8s.io/v1')}" in scheme "pkg/runtime/scheme.go:110"`,
    );
  }
  const { value: options } = decodeAs(deleteOptions, read, '');
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun } =
    options as Partial<BodyOptions> as BodyOptions;
  return { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions: { ...preconditions }, dryRun };
}
