// Lists in pages: `{value, nextLink?}`, `$top`, and a `$skipToken` that only this service can make and only this list takes.
import type { FastifyRequest } from 'fastify';
import { type KeyRing, SealError } from '../kit/key-ring.ts';
import { invalidParameter } from './errors.ts';
import { type LinkOptions, nextLink } from './links.ts';
import { queryParameter } from './query.ts';
import { pathOf } from './request.ts';

export interface PagingOptions {
  readonly keyRing: KeyRing;
  readonly links: LinkOptions;
  /** Items on a page when `$top` does not ask for fewer; also the most that `$top` gives. */
  readonly pageSize: number;
}

/** What to ask the store for. */
export interface PageRequest {
  readonly limit: number;
  /** The store's continuation, from the page before. */
  readonly continuation?: string;
}

export interface ListAnswer<T> {
  readonly value: readonly T[];
  readonly nextLink?: string;
}

const tokenMaxLength = 16 * 1024;

/** Reads `$top` and `$skipToken`. Whatever is wrong with them is InvalidParameter. */
export function pageRequest(request: FastifyRequest, options: PagingOptions): PageRequest {
  const limit = Math.min(topOf(request) ?? options.pageSize, options.pageSize);
  const token = queryParameter(request, '$skipToken');
  if (token === undefined || token === '') return { limit };
  if (token.length > tokenMaxLength) throw badToken();
  try {
    return { limit, continuation: options.keyRing.open(token, contextOf(request)) };
  } catch (error) {
    if (error instanceof SealError) throw badToken();
    throw error;
  }
}

/** The answer for one page; `continuation` is what the store gave for the next. */
export function listAnswer<T>(
  request: FastifyRequest,
  options: PagingOptions,
  value: readonly T[],
  continuation: string | undefined,
): ListAnswer<T> {
  if (continuation === undefined) return { value };
  const token = options.keyRing.seal(continuation, contextOf(request));
  return { value, nextLink: nextLink(request, options.links, token) };
}

function topOf(request: FastifyRequest): number | undefined {
  const top = queryParameter(request, '$top');
  if (top === undefined) return undefined;
  if (!/^[0-9]{1,10}$/.test(top) || Number(top) === 0 || Number(top) > 0x7fffffff) {
    throw invalidParameter("The query parameter '$top' must be a whole number greater than 0.", '$top');
  }
  return Number(top);
}

/** What a token is bound to: the list (path and filter) and the tenant; not the caller, who may change between pages. */
function contextOf(request: FastifyRequest): string {
  const path = pathOf(request).replace(/\/+/g, '/').replace(/\/$/, '').toLowerCase();
  const filter = queryParameter(request, '$filter') ?? '';
  return JSON.stringify(['skipToken', path, filter, request.arm.homeTenantId?.toLowerCase() ?? '']);
}

function badToken(): Error {
  return invalidParameter('The $skipToken is not valid for this list. Start the list again without it.', '$skipToken');
}
