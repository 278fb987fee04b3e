// What stands behind resources, made and taken away by their types.
import { parseResourceId } from '../../../arm/resource-id.ts';
import type { Document } from '../../../store/store.ts';
import type { Kernel } from './kernel.ts';
import type { EffectEvent } from './provider.ts';
import { hasEffect } from './provisioning.ts';
import type { JsonObject, ResourceRecord } from './record.ts';
import type { StoredResource } from './state.ts';

/** Takes away what stands behind the resources of a tree, children first. */
export async function undo(kernel: Kernel, tree: readonly Document<StoredResource>[]): Promise<void> {
  for (const { id, body } of [...tree].reverse()) {
    if (hasEffect(kernel, body)) await kernel.inLine(id, () => effect(kernel, 'delete', body));
  }
}

/** Undefined for types that have none. */
export async function effect(
  kernel: Kernel,
  kind: EffectEvent['kind'],
  record: ResourceRecord,
): Promise<JsonObject | undefined> {
  const definition = kernel.catalogue.find(record.type)?.definition;
  const parsed = parseResourceId(record.resource.id);
  if (definition?.effect === undefined || !parsed.ok) return undefined;
  return definition.effect(kernel.world(), { kind, id: parsed.id, record });
}
