// Answers to what never becomes a request of the framework, in the same error form as everything else.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Status line and code by the parser's error; all others are 400. */
const answers: Readonly<Record<string, readonly [status: string, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'RequestHeadersTooLarge',
    'The request headers are too large.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'RequestTimeout', 'The request was not complete in time.'],
};

/** For a server's `clientError`. What is no fault of HTTP, such as a failed handshake, has nobody who could read an answer. */
export function clientErrorHandler(error: Error & { readonly code?: string }, socket: Socket): void {
  if (!/^(HPE|ERR_HTTP)_/.test(error.code ?? '') || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, code, message] = answers[error.code ?? ''] ?? [
    '400 Bad Request',
    'BadRequest',
    'The request is not valid HTTP.',
  ];
  const body = JSON.stringify({ error: { code, message } });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `x-ms-error-code: ${code}\r\nx-ms-request-id: ${randomUUID()}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

/** For a server's `checkExpectation`: an Expect header other than 100-continue. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const code = 'ExpectationFailed';
  const body = JSON.stringify({ error: { code, message: 'The only expectation that can be met is 100-continue.' } });
  response.writeHead(417, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-ms-error-code': code,
    'x-ms-request-id': randomUUID(),
    connection: 'close',
  });
  response.end(body);
}
