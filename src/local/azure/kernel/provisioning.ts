// Small facts about a record that depend on its type.
import type { KnownType } from './catalogue.ts';
import type { Kernel } from './kernel.ts';
import type { ResourceRecord } from './record.ts';
import type { StoredResource } from './state.ts';

/** The record in another state, when its type shows one. */
export function withState(record: StoredResource, known: KnownType | undefined, state: string): StoredResource {
  if (known?.definition.provisioningState === false) return record;
  const { resource } = record;
  return { ...record, resource: { ...resource, properties: { ...resource.properties, provisioningState: state } } };
}

/** Whether something stands behind it that is made and taken away. */
export function hasEffect({ catalogue }: Pick<Kernel, 'catalogue'>, { type }: ResourceRecord): boolean {
  return catalogue.find(type)?.definition.effect !== undefined;
}
