// Conditional requests: ETag on answers, If-Match and If-None-Match on requests (RFC 9110, 13).
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ArmError } from './errors.ts';
import { headerOf } from './request.ts';

/** The wire's ETag for a version of a document: a digest, so that the store's own etag stays inside. */
export function entityTag(storeEtag: string): string {
  return `"${hash('sha256', storeEtag, 'base64url').slice(0, 22)}"`;
}

/** Whether the request has a condition, so that a lost race is a failed precondition. */
export function isConditional(request: FastifyRequest): boolean {
  return request.headers['if-match'] !== undefined || request.headers['if-none-match'] !== undefined;
}

/**
 * Checks the conditions of a write against the resource as it is: its store etag, or undefined when it does not exist.
 * Throws PreconditionFailed.
 */
export function checkPreconditions(request: FastifyRequest, storeEtag: string | undefined): void {
  const ifMatch = headerOf(request, 'if-match');
  if (ifMatch !== undefined && !matches(ifMatch, storeEtag, 'strong')) {
    throw failed(storeEtag === undefined ? 'the resource does not exist' : 'the resource has changed', 'If-Match');
  }
  const ifNoneMatch = headerOf(request, 'if-none-match');
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, storeEtag, 'weak')) {
    throw failed('the resource exists', 'If-None-Match');
  }
}

/** For GET and HEAD: sets ETag, and answers whether the caller has this version already (then send 304 without a body). */
export function isNotModified(request: FastifyRequest, reply: FastifyReply, storeEtag: string): boolean {
  const ifMatch = headerOf(request, 'if-match');
  if (ifMatch !== undefined && !matches(ifMatch, storeEtag, 'strong'))
    throw failed('the resource has changed', 'If-Match');
  reply.header('etag', entityTag(storeEtag));
  const ifNoneMatch = headerOf(request, 'if-none-match');
  return ifNoneMatch !== undefined && matches(ifNoneMatch, storeEtag, 'weak');
}

function failed(why: string, header: string): ArmError {
  return new ArmError(412, 'PreconditionFailed', `The condition in ${header} is not met: ${why}.`, { target: header });
}

function matches(header: string, storeEtag: string | undefined, comparison: 'strong' | 'weak'): boolean {
  if (storeEtag === undefined) return false;
  if (header.trim() === '*') return true;
  const current = entityTag(storeEtag);
  // Our tags hold no comma, so a tag that does is not ours and splitting it does no harm.
  return header.split(',').some((item) => {
    const tag = item.trim();
    return tag === current || (comparison === 'weak' && tag === `W/${current}`);
  });
}
