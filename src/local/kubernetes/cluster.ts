// One embedded cluster as the rest of the server sees it.
import type { Logger } from '../../kit/log.ts';
import type { AccessAnswer, AccessQuestion, User } from './access/user.ts';
import type { Objects } from './objects/objects.ts';
import type { Registry } from './registry/registry.ts';
import type { TypeTable } from './types/resource-type.ts';

export interface Cluster {
  readonly name: string;
  /** `https://host:port` that clients use. */
  readonly url: string;
  readonly objects: Objects;
  readonly types: TypeTable;
  readonly registry: Registry;
  readonly log: Logger;
  /** PEM of the cluster's certificate authority. Made at the first call. */
  ca(): Promise<string>;
  mayDo(user: User, question: AccessQuestion): AccessAnswer;
  /** Epoch milliseconds; the simulated clock in tests. */
  now(): number;
}
