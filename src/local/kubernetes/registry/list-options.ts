// The rules of a list's or watch's options among each other, in the server's words.
import { badRequest, type FieldError, invalid, StatusError } from '../status.ts';
import type { ListQuery, WatchQuery } from './registry.ts';

const kind = { group: 'meta.k8s.io', kind: 'ListOptions' };

const forbiddenField = (field: string, why: string): FieldError => ({
  type: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${why}`,
});

function checkMatch({ resourceVersionMatch, resourceVersion }: ListQuery): FieldError[] {
  if (!resourceVersionMatch) return [];
  const errors: FieldError[] = [];
  if (!resourceVersion) {
    errors.push(
      forbiddenField('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
    );
  }
  if (resourceVersionMatch !== 'Exact' && resourceVersionMatch !== 'NotOlderThan') {
    errors.push(unsupportedMatch(resourceVersionMatch));
  } else if (resourceVersionMatch === 'Exact' && resourceVersion === '0') {
    errors.push(
      forbiddenField('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    );
  }
  return errors;
}

const unsupportedMatch = (given: string, supported = ['Exact', 'NotOlderThan', '']): FieldError => ({
  type: 'FieldValueNotSupported',
  field: 'resourceVersionMatch',
  message: `Unsupported value: ${JSON.stringify(given)}: supported values: ${supported.map((value) => JSON.stringify(value)).join(', ')}`,
});

const continued = forbiddenField('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided');

export function checkListQuery(query: ListQuery): void {
  const errors = checkMatch(query);
  if (query.continue && query.resourceVersionMatch) {
    errors.push(continued);
  }
  if (errors.length > 0) throw invalid(kind, '', errors);
  if (query.continue && query.resourceVersion && query.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
}

/** `asked` tells whether sendInitialEvents was given at all, true or false. */
export function checkWatchQuery(query: WatchQuery): void {
  const { resourceVersionMatch, initialEventsAsked } = query;
  const errors: FieldError[] = [];
  if (initialEventsAsked) {
    if (resourceVersionMatch !== 'NotOlderThan') {
      errors.push(
        forbiddenField(
          'resourceVersionMatch',
          'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
        ),
      );
      if (resourceVersionMatch) errors.push(unsupportedMatch(resourceVersionMatch, ['NotOlderThan']));
    }
  } else if (resourceVersionMatch) {
    errors.push(
      forbiddenField(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  }
  if (query.continue) errors.push(continued);
  if (errors.length > 0) throw invalid(kind, '', errors);
}

const versionForm = /^\d+$/;
const mostVersion = 2n ** 64n - 1n;
/** Longer ones may be beyond what is a version at all. */
const surelyVersion = 19;

/** A resourceVersion as a number; undefined where none is given. */
export function readRevision(text: string | undefined, prefix = ''): number | undefined {
  if (text === undefined || text === '') return undefined;
  const digits = versionForm.test(text);
  if (!digits || (text.length > surelyVersion && (text.length > 1000 || BigInt(text) > mostVersion))) {
    const why = digits ? 'value out of range' : 'invalid syntax';
    throw badRequest(
      `${prefix}resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`,
    );
  }
  return Number(text);
}

export function tooLargeRevision(wanted: number, current: number): StatusError {
  return new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}
