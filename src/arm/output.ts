// How JSON leaves: `Content-Type: application/json`, indented or not.
import type { FastifyInstance } from 'fastify';

export interface OutputOptions {
  /** Spaces by which members are indented; 0 for the compact form. */
  readonly indent: number;
  /** Ends every body with a line break. */
  readonly finalNewline: boolean;
}

export function output(app: FastifyInstance, options: OutputOptions): void {
  app.setReplySerializer((payload) => jsonText(payload, options));
}

/** A body's text. */
export function jsonText(payload: unknown, options: OutputOptions): string {
  return JSON.stringify(payload, undefined, options.indent) + (options.finalNewline ? '\n' : '');
}
