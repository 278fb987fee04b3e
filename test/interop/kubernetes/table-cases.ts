// Objects whose row in a table is compared with a real kube-apiserver's.
import type { JsonObject } from '../../../src/local/kubernetes/object.ts';
import type { CreateCase } from './type-cases.ts';

export interface TableCase extends CreateCase {
  /** Merge patches by subresource, made after the create. */
  readonly then?: Readonly<Record<string, JsonObject>>;
}

export const tableCases: readonly TableCase[] = [];
