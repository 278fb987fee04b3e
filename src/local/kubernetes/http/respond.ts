// How answers are sent: JSON or YAML, indented for people, compressed when large, with the warnings of the request.
import type { OutgoingHttpHeaders } from 'node:http';
import { gzip } from 'node:zlib';
import { stringify } from 'yaml';
import type { Exchange } from './exchange.ts';
import type { Form } from './negotiate.ts';
import type { Warnings } from './warnings.ts';

/** From this size on an answer is compressed for clients that take it. */
const compressFrom = 128 * 1024;

export interface Sending {
  readonly exchange: Exchange;
  readonly query: URLSearchParams;
  readonly auditId: string;
  readonly warnings: Warnings;
}

function headersOf(sending: Sending, contentType: string): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'audit-id': sending.auditId,
    'cache-control': 'no-cache, private',
    'content-type': contentType,
  };
  const warnings = sending.warnings.headers;
  // One header per warning; Node's types know a single one only.
  if (warnings.length > 0) (headers as Record<string, readonly string[]>).warning = warnings;
  return headers;
}

const peoplesTools = /^(curl|Wget|Mozilla\/5\.0)/i;

/** What Go reads as true. */
const trueForms: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

function wantsIndent({ exchange, query }: Sending): boolean {
  const asked = query.get('pretty');
  if (asked) return trueForms.has(asked);
  const agent = exchange.headers['user-agent'];
  return agent !== undefined && peoplesTools.test(agent);
}

/** Sends JSON that is already bytes, in the form asked for. */
export function sendJsonBytes(
  sending: Sending,
  status: number,
  bytes: Buffer,
  form: Form,
  more?: OutgoingHttpHeaders,
): void {
  if (form.media === 'yaml') {
    const text = stringify(JSON.parse(bytes.toString()), {
      version: '1.1',
      sortMapEntries: true,
      lineWidth: 80,
      indentSeq: false,
      aliasDuplicateObjects: false,
    });
    sendBytes(sending, status, Buffer.from(text), 'application/yaml', more);
  } else if (wantsIndent(sending)) {
    const text = JSON.stringify(JSON.parse(bytes.toString()), undefined, 2);
    sendBytes(sending, status, Buffer.from(text), 'application/json', more);
  } else sendBytes(sending, status, bytes, 'application/json', more);
}

/** What Go's encoder writes as an escape, so that JSON within a page is no part of the page. */
const notPlain = /[<>&\u2028\u2029]/g;
const goJson = (object: object): string =>
  JSON.stringify(object).replace(notPlain, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);

export function sendObject(
  sending: Sending,
  status: number,
  object: object,
  form: Form,
  more?: OutgoingHttpHeaders,
): void {
  sendJsonBytes(sending, status, Buffer.from(goJson(object)), form, more);
}

/** Sends bytes as they are, compressed where that is worth it. */
export function sendBytes(
  sending: Sending,
  status: number,
  bytes: Buffer,
  contentType: string,
  more: OutgoingHttpHeaders = {},
): void {
  const { exchange } = sending;
  const headers = { ...headersOf(sending, contentType), ...more };
  const accepts = exchange.headers['accept-encoding'];
  if (bytes.length < compressFrom || typeof accepts !== 'string' || !accepts.includes('gzip')) {
    headers['content-length'] = bytes.length;
    exchange.answer(status, headers, bytes);
    return;
  }
  headers.vary = 'Accept-Encoding';
  gzip(bytes, { level: 1 }, (error, small) => {
    if (error) {
      exchange.answer(status, { ...headers, 'content-length': bytes.length }, bytes);
      return;
    }
    exchange.answer(status, { ...headers, 'content-encoding': 'gzip', 'content-length': small.length }, small);
  });
}

/** The headers that a stream of events starts with. */
export const streamHeaders = (sending: Sending): OutgoingHttpHeaders => headersOf(sending, 'application/json');
