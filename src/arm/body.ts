// Reads the request body: refused by its headers before a byte is read, bounded while it is read, parsed safely after.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyTooLarge, type WireOptions } from './error-wire.ts';
import { ArmError, invalidRequestContent } from './errors.ts';
import { parseJson } from './json-text.ts';

export interface BodyOptions extends WireOptions {
  readonly limitBytes: number;
  /** How deep objects and arrays may be nested. */
  readonly maxDepth: number;
  /** How text becomes a value; strict JSON when left out. */
  readonly parse?: typeof parseJson;
}

/** Replaces the framework's parsers in this scope. A request with an empty body has `request.body` undefined. */
export function body(app: FastifyInstance, options: BodyOptions): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, payload, done) => {
    if (request.is404) {
      done(null, undefined);
      return;
    }
    const refusal = refuseByHeaders(request, options);
    if (refusal) {
      done(refusal, undefined);
      return;
    }
    readAll(payload, options, (error, bytes) => {
      if (error) done(error, undefined);
      else finish(request, bytes, options, done);
    });
  });
}

function refuseByHeaders(request: FastifyRequest, options: BodyOptions): ArmError | undefined {
  const { headers } = request;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    return new ArmError(
      415,
      'UnsupportedMediaType',
      'A compressed body is not accepted: send it without Content-Encoding.',
    );
  }
  const length = Number(headers['content-length'] ?? Number.NaN);
  if (length > options.limitBytes) return bodyTooLarge(options);
  const type = headers['content-type'];
  if (type === undefined) return length > 0 ? notJson() : undefined;
  return isJson(type) ? undefined : notJson();
}

function notJson(): ArmError {
  return new ArmError(415, 'UnsupportedMediaType', "The content type must be 'application/json' in UTF-8.");
}

function isJson(contentType: string): boolean {
  const [media = '', ...parameters] = contentType.split(';');
  if (media.trim().toLowerCase() !== 'application/json') return false;
  const charset = parameters.map((part) => part.trim().toLowerCase()).find((part) => part.startsWith('charset='));
  return charset === undefined || /^charset="?(?:utf-?8|us-ascii)"?$/.test(charset);
}

function readAll(
  payload: NodeJS.ReadableStream,
  options: BodyOptions,
  done: (error: Error | undefined, bytes: Buffer) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const end = (error: Error | undefined): void => {
    payload.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
    done(error, error ? Buffer.alloc(0) : Buffer.concat(chunks, length));
  };
  const onData = (chunk: Buffer): void => {
    length += chunk.length;
    if (length > options.limitBytes) end(bodyTooLarge(options));
    else chunks.push(chunk);
  };
  const onEnd = (): void => end(undefined);
  const onClose = (): void => end(brokenOff());
  const onError = (): void => end(brokenOff());
  payload.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
}

function brokenOff(): ArmError {
  return invalidRequestContent('The request ended before its body was complete.');
}

function finish(
  request: FastifyRequest,
  bytes: Buffer,
  options: BodyOptions,
  done: (error: Error | null, body?: unknown) => void,
): void {
  if (bytes.length === 0) {
    done(null, undefined);
    return;
  }
  if (request.headers['content-type'] === undefined) {
    done(notJson());
    return;
  }
  const parsed = (options.parse ?? parseJson)(bytes, options.maxDepth);
  if (parsed.ok) done(null, parsed.value);
  else done(invalidRequestContent(`The request content could not be read: ${parsed.message}.`));
}
