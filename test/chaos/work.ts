// What leases.test.ts and its workers agree on.
import type { ContainerSpec, Key } from '../../src/store/store.ts';
import type { Address } from './address.ts';

export interface Work {
  readonly subscription: string;
  readonly state: 'waiting' | 'working' | 'done';
  /** Who wrote this last, and under which fencing token. */
  readonly owner?: string;
  readonly token?: number;
}

export const workContainer: ContainerSpec<Work> = {
  name: 'work',
  indexes: [{ field: ['state'], type: 'string' }],
  queue: (body) => (body.state === 'done' ? undefined : body.subscription),
};

export interface Task {
  readonly address: Address;
  readonly owner: string;
  readonly leaseSeconds: number;
  readonly batch: number;
}

/** What a worker tells its parent: what it has claimed, before it writes anything; how each batch went, after it. */
export type Report =
  | { readonly claimed: readonly (readonly [document: string, token: number])[] }
  | {
      readonly done: number;
      /** Given up because the lease was lost. */
      readonly refused: number;
    };

export function nameOf({ partition, id }: Key): string {
  return `${partition}/${id}`;
}
