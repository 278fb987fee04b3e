// Signatures that clients make with an account's key: of requests, and of addresses that are handed on.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Account } from './account.ts';
import { header, type StorageCall } from './call.ts';

export function hmac(key: string, text: string): string {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(text, 'utf8').digest('base64');
}

export function matches(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Whether a request is signed by one of the account's keys. */
export function isSignedRequest(call: StorageCall, account: Account, signature: string, isLite: boolean): boolean {
  const text = isLite ? liteText(call, account) : fullText(call, account);
  return account.keys.some((key) => matches(hmac(key.reveal(), text), signature));
}

const signedHeaders = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-type',
  'date',
  'if-modified-since',
  'if-match',
  'if-none-match',
  'if-unmodified-since',
  'range',
];

function fullText(call: StorageCall, account: Account): string {
  const values = signedHeaders.map((name) => {
    const value = header(call, name) ?? '';
    if (name === 'content-length' && value === '0') return '';
    return name === 'date' && header(call, 'x-ms-date') !== undefined ? '' : value;
  });
  return `${[call.method, ...values].join('\n')}\n${canonicalHeaders(call)}${canonicalResource(call, account)}`;
}

function liteText(call: StorageCall, account: Account): string {
  const values = ['content-md5', 'content-type'].map((name) => header(call, name) ?? '');
  const date = header(call, 'x-ms-date') === undefined ? (header(call, 'date') ?? '') : '';
  const comp = call.query.comp === undefined ? '' : `?comp=${call.query.comp}`;
  return `${[call.method, ...values, date].join('\n')}\n${canonicalHeaders(call)}/${account.name}${call.path}${comp}`;
}

function canonicalHeaders({ headers }: StorageCall): string {
  return Object.entries(headers)
    .filter(([name]) => name.startsWith('x-ms-'))
    .sort(([a], [b]) => compare(a, b))
    .map(
      ([name, value]) =>
        `${name}:${(Array.isArray(value) ? value.join(',') : (value ?? '')).replace(/\s+/g, ' ').trim()}\n`,
    )
    .join('');
}

/** By weight of characters as the services sort: `_` and `-` come before letters and digits in both orders of importance. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function canonicalResource({ path, query }: StorageCall, account: Account): string {
  const lines = Object.keys(query)
    .sort()
    .map((name) => `\n${name}:${query[name] ?? ''}`);
  return `/${account.name}${path}${lines.join('')}`;
}
