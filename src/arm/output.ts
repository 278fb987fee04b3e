// How JSON leaves: `Content-Type: application/json`, indented or not.
import type { FastifyInstance } from 'fastify';

export interface OutputOptions {
  /** Spaces by which members are indented; 0 for the compact form. */
  readonly indent: number;
  /** Ends every body with a line break. */
  readonly finalNewline: boolean;
}

export function output(app: FastifyInstance, options: OutputOptions): void {
  const end = options.finalNewline ? '\n' : '';
  app.setReplySerializer((payload) => JSON.stringify(payload, undefined, options.indent) + end);
}
