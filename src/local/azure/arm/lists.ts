// Lists in pages. The token of the next page is sealed and bound to the list it was made for.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { SealError } from '../../../kit/key-ring.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import type { ListQuery } from '../kernel/resources.ts';
import type { ArmCall } from './call.ts';

export interface ListOptions {
  readonly query: ListQuery;
  /** Which of the records are part of the list. */
  readonly accept: (record: ResourceRecord) => boolean | Promise<boolean>;
  readonly show: (record: ResourceRecord) => unknown | Promise<unknown>;
}

const pageSize = 500;
/** A page that a filter leaves empty is followed by the next, so many times; then the client comes back for more. */
const maxPagesRead = 20;

/** One page of a list, as its body. */
export async function listPage(
  call: ArmCall,
  options: ListOptions,
): Promise<{ readonly value: readonly unknown[]; readonly nextLink?: string }> {
  const limit = Math.min(topOf(call) ?? pageSize, pageSize);
  let continuation = openToken(call);
  const value: unknown[] = [];
  for (let read = 0; read < maxPagesRead; read++) {
    const page = await call.world.resources.page(options.query, {
      limit: limit - value.length,
      ...(continuation === undefined ? {} : { continuation }),
    });
    for (const record of page.records) if (await options.accept(record)) value.push(await options.show(record));
    continuation = page.continuation;
    if (continuation === undefined || value.length >= limit) break;
  }
  return continuation === undefined ? { value } : { value, nextLink: nextLink(call, continuation) };
}

/** A list that is at hand as a whole, in one page. */
export function wholeList(value: readonly unknown[]): { readonly value: readonly unknown[] } {
  return { value };
}

function topOf(call: ArmCall): number | undefined {
  const top = call.query.$top;
  if (top === undefined) return undefined;
  if (!/^[0-9]{1,9}$/.test(top) || Number(top) === 0)
    throw new ArmError(
      400,
      'InvalidTopInQueryString',
      `The $top '${top.slice(0, 32)}' in the query string is invalid.`,
    );
  return Number(top);
}

function openToken(call: ArmCall): string | undefined {
  const token = call.query.$skiptoken;
  if (token === undefined || token === '') return undefined;
  try {
    return call.keys.open(token, contextOf(call));
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new ArmError(
      400,
      'InvalidSkipToken',
      'The $skiptoken in the query string is not valid for this list. Start the list again without it.',
    );
  }
}

function nextLink(call: ArmCall, continuation: string): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query)) if (name !== '$skiptoken') parameters.append(name, value);
  const token = call.keys.seal(continuation, contextOf(call));
  const path = call.segments.map(encodeURIComponent).join('/');
  return `${call.origin}/${path}?${parameters.toString().replaceAll('%24', '$')}&$skiptoken=${encodeURIComponent(token)}`;
}

function contextOf(call: ArmCall): string {
  return JSON.stringify(['list', foldCase(call.segments.join('/')), call.query.$filter ?? '']);
}
