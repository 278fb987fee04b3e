// The context of one request, made once and passed down.
import { annotateRequest } from '../access/audit.ts';
import type { User } from '../access/user.ts';
import type { Cluster } from '../cluster.ts';
import type { RequestContext } from '../request-context.ts';
import type { Exchange } from './exchange.ts';
import type { WriteOptions } from './options.ts';
import type { Warnings } from './warnings.ts';

const longestManager = 128;

/** The field manager of a client that does not name one: the first part of its user agent. */
export function managerOf(userAgent: string | undefined): string {
  const name = (userAgent ?? '').split('/', 1)[0] ?? '';
  return name === '' ? 'unknown' : name.slice(0, longestManager);
}

/** Warnings are collected in `warnings`. */
export function contextOf(
  exchange: Exchange,
  cluster: Cluster,
  user: User,
  warnings: Warnings,
  options?: Pick<WriteOptions, 'dryRun' | 'fieldManager' | 'fieldValidation'>,
): RequestContext {
  let controller: AbortController | undefined;
  return {
    cluster,
    user,
    dryRun: options?.dryRun ?? false,
    fieldManager: options?.fieldManager || managerOf(exchange.headers['user-agent']),
    fieldValidation: options?.fieldValidation ?? 'Warn',
    warn: (text) => warnings.add(text),
    annotate: (key, value) => annotateRequest(exchange, key, value),
    // Most requests are over before anybody asks.
    get signal() {
      if (!controller) {
        const made = new AbortController();
        controller = made;
        if (exchange.closed) made.abort();
        else exchange.onClose(() => made.abort());
      }
      return controller.signal;
    },
  };
}
