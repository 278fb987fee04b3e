// One request and its answer, as kept in a recording.
import type { Naming, Plain } from './naming.ts';

export interface Exchange {
  readonly method: string;
  /** `{origin}/…`, or `https://name/…` for hosts of their own. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: Plain;
  readonly answer: Answered;
}

export interface Answered {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body?: Plain;
}

/** What goes over the wire, before names are given. */
export interface RawExchange {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
  readonly answer: {
    readonly status: number;
    readonly headers: { readonly [name: string]: string };
    readonly body: Buffer;
  };
}

/** Headers that change what a request means; the rest says which tool and which run it came from. */
const requestHeaders = ['authorization', 'content-type', 'if-match', 'if-none-match', 'consistencylevel'];
const answerHeaders = [
  'content-type',
  'www-authenticate',
  'location',
  'azure-asyncoperation',
  'retry-after',
  'x-ms-error-code',
];

/** Storage says what a request is about in headers of its own. */
function storageHeaders(headers: { readonly [name: string]: string }): readonly string[] {
  return Object.keys(headers).filter((name) => /^x-ms-(?:version|blob-|meta-|access-tier|delete-)/.test(name));
}

/** `bodies` false leaves out what was answered beside status and headers. */
export function namedExchange(raw: RawExchange, naming: Naming, bodies: boolean): Exchange {
  // In the order in which values come up in every run: the request, then its answer.
  const request = {
    method: raw.method,
    url: naming.named(raw.url),
    headers: naming.named(chosen(raw.headers, [...requestHeaders, ...storageHeaders(raw.headers)])),
    ...bodyOf(raw.body, raw.headers['content-type'], naming.namedAsSent),
  };
  return { ...request, answer: namedAnswer(raw.answer, naming, bodies) };
}

export function namedAnswer(raw: RawExchange['answer'], naming: Naming, bodies: boolean): Answered {
  return {
    status: raw.status,
    headers: naming.named(chosen(raw.headers, answerHeaders)),
    ...(bodies ? bodyOf(raw.body, raw.headers['content-type'], naming.named) : {}),
  };
}

/** Whether an answer says that an operation is still under way, so that the same is asked again. */
export function isUnderWay(answer: Answered): boolean {
  const status = member(answer.body, 'status') ?? member(member(answer.body, 'properties'), 'provisioningState');
  const ended = ['Succeeded', 'Failed', 'Canceled'];
  if (typeof status === 'string') return !ended.includes(status);
  return answer.status === 202;
}

function member(value: Plain | undefined, name: string): Plain | undefined {
  if (value === undefined || value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  return (value as { readonly [member: string]: Plain })[name];
}

function chosen(headers: { readonly [name: string]: string }, names: readonly string[]): { [name: string]: string } {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}

function bodyOf(body: Buffer, type: string | undefined, named: Naming['named']): { body?: Plain } {
  if (body.length === 0) return {};
  const text = body.toString();
  return { body: named(/json/i.test(type ?? '') ? documentOf(text) : text) };
}

/** az sends templates in a form that JSON is a part of; such a body is kept as text. */
function documentOf(text: string): Plain {
  try {
    return JSON.parse(text) as Plain;
  } catch {
    return text;
  }
}
