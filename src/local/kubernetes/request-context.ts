// Who asks for what, in which cluster, with which options: made once per request by http/, passed down to everything.
import type { User } from './access/user.ts';
import type { Cluster } from './cluster.ts';

export interface RequestContext {
  readonly cluster: Cluster;
  readonly user: User;
  readonly dryRun: boolean;
  /** `fieldManager` as asked, or derived from the user agent. */
  readonly fieldManager: string;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Warnings for the client, sent as Warning headers. */
  warn(text: string): void;
  /** Takes a note of admission for the audit line of the request; left out where none is written. */
  readonly annotate?: (key: string, value: string) => void;
  /** Aborts when the client has gone away. */
  readonly signal: AbortSignal;
}
