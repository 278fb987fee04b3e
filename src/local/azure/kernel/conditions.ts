// Etags on the wire, and the conditions that requests make of them.
import { entityTag } from '../../../arm/conditional.ts';
import { ArmError } from '../../../arm/errors.ts';

/** The etag that answers carry for a document's, as most providers of Azure write it. */
export function wireEtag(documentEtag: string): string {
  return `W/${entityTag(documentEtag)}`;
}

export interface Conditions {
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
}

export function hasConditions({ ifMatch, ifNoneMatch }: Conditions): boolean {
  return ifMatch !== undefined || ifNoneMatch !== undefined;
}

/** `documentEtag` is undefined when there is no resource. Throws PreconditionFailed. */
export function checkConditions({ ifMatch, ifNoneMatch }: Conditions, documentEtag: string | undefined): void {
  if (ifMatch !== undefined && !fits(ifMatch, documentEtag))
    throw preconditionFailed(documentEtag === undefined ? 'the resource does not exist' : 'the resource has changed');
  if (ifNoneMatch !== undefined && fits(ifNoneMatch, documentEtag)) throw preconditionFailed('the resource exists');
}

export function preconditionFailed(why: string): ArmError {
  return new ArmError(412, 'PreconditionFailed', `Precondition failed: ${why}.`);
}

/** For a write without conditions that others were faster than again and again. */
export function lostRace(): ArmError {
  const message = 'The resource was changed by other requests at the same time. Repeat the request.';
  return new ArmError(409, 'Conflict', message, { retryAfterSeconds: 1 });
}

/** Clients of Azure send back what they were given with and without the sign of weakness and the quotes. */
function fits(header: string, documentEtag: string | undefined): boolean {
  if (documentEtag === undefined) return false;
  if (header.trim() === '*' || header.trim() === '"*"') return true;
  const tag = bare(wireEtag(documentEtag));
  return header.split(',').some((item) => bare(item) === tag);
}

function bare(tag: string): string {
  return tag.trim().replace(/^W\//i, '').replaceAll('"', '');
}
