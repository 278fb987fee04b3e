// Many requests in one: deletes and changes of tier, each allowed or refused by itself.
import { randomUUID } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { splitPath } from './blob-path.ts';
import { type StorageAnswer, type StorageCall, smallBody } from './call.ts';
import { storageError } from './errors.ts';
import { declaration, element, field } from './xml.ts';

const maxRequests = 256;

export async function runBatch(
  call: StorageCall,
  answerTo: (call: StorageCall) => Promise<StorageAnswer>,
): Promise<StorageAnswer> {
  const type = String(call.headers['content-type'] ?? '');
  const [, boundary] = /boundary=([^;\s]{1,200})/i.exec(type) ?? [];
  if (boundary === undefined) throw storageError(400, 'InvalidHeaderValue');
  const text = (await smallBody(call)).toString('utf8');
  const parts = text.split(`--${boundary}`).slice(1, -1);
  if (parts.length === 0 || parts.length > maxRequests) throw storageError(400, 'InvalidInput');
  const mark = `batchresponse_${randomUUID()}`;
  const answers: string[] = [];
  for (const [at, part] of parts.entries()) {
    const { status, headers, body, id } = await runPart(call, part, answerTo);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    answers.push(
      [
        `--${mark}`,
        'Content-Type: application/http',
        `Content-ID: ${id ?? at}`,
        '',
        `HTTP/1.1 ${status} ${status < 300 ? 'Accepted' : 'Error'}`,
        ...lines,
        ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`, 'Content-Type: application/xml']),
        '',
        body,
      ].join('\r\n'),
    );
  }
  return {
    status: 202,
    headers: { 'content-type': `multipart/mixed; boundary=${mark}` },
    body: `${answers.join('\r\n')}\r\n--${mark}--\r\n`,
  };
}

interface PartAnswer {
  readonly id: string | undefined;
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

async function runPart(
  call: StorageCall,
  part: string,
  answerTo: (call: StorageCall) => Promise<StorageAnswer>,
): Promise<PartAnswer> {
  const [outer = '', ...rest] = part.replace(/^\r?\n/, '').split(/\r?\n\r?\n/);
  const id = /content-id:\s*(\d{1,6})/i.exec(outer)?.[1];
  const [first = '', ...lines] = rest.join('\r\n\r\n').split(/\r?\n/);
  const [method = '', target = ''] = first.split(' ');
  const requestId = randomUUID();
  try {
    if (method !== 'DELETE' && method !== 'PUT') throw storageError(400, 'InvalidInput');
    const url = URL.canParse(target, call.origin) ? new URL(target, call.origin) : undefined;
    if (url === undefined) throw storageError(400, 'InvalidUri');
    const headers: { [name: string]: string } = {};
    for (const line of lines) {
      const at = line.indexOf(':');
      if (at > 0) headers[line.slice(0, at).trim().toLowerCase()] = line.slice(at + 1).trim();
    }
    const inner: StorageCall = {
      ...call,
      method,
      path: url.pathname,
      ...splitPath(url.pathname),
      query: Object.fromEntries([...url.searchParams].map(([name, value]) => [name.toLowerCase(), value])),
      headers,
      requestId,
    };
    const comp = inner.query.comp ?? '';
    if (inner.blob === '' || (method === 'PUT' && comp !== 'tier')) throw storageError(400, 'InvalidInput');
    const { status, headers: given = {} } = await answerTo(inner);
    return { id, status, headers: { 'x-ms-request-id': requestId, ...given }, body: '' };
  } catch (error) {
    if (!(error instanceof ArmError)) throw error;
    const { status, code, message } = error;
    return {
      id,
      status,
      headers: { 'x-ms-error-code': code, 'x-ms-request-id': requestId },
      body: `${declaration}${element('Error', [field('Code', code), field('Message', `${message}\nRequestId:${requestId}`)])}`,
    };
  }
}
