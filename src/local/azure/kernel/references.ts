// Which resources a body names.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, parseResourceId } from '../../../arm/resource-id.ts';
import type { JsonObject } from './record.ts';

/** A body that names more is refused: ids must not become endless work. */
export const maxReferences = 1000;

/**
 * Every member named `id` below `properties` whose value is the id of another resource, with the path of the member. Ids of the
 * resource itself and of parts of it are none: those go with it. Throws when there are more than `maxReferences`.
 */
export function referencesIn(key: string, properties: JsonObject | undefined): { readonly [id: string]: string } {
  const found: { [id: string]: string } = {};
  let count = 0;
  const level: { readonly value: unknown; readonly path: string }[] = [{ value: properties, path: 'properties' }];
  for (let next = level.pop(); next !== undefined; next = level.pop()) {
    const { value, path } = next;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, member] of Object.entries(value)) {
      const at = Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`;
      if (name === 'id' && typeof member === 'string') {
        const target = referenceKey(member);
        if (target === undefined || isWithin(target, key) || Object.hasOwn(found, target)) continue;
        if (++count > maxReferences) throw tooManyReferences();
        found[target] = at;
      } else if (typeof member === 'object' && member !== null) level.push({ value: member, path: at });
    }
  }
  return found;
}

export function tooManyReferences(): ArmError {
  return new ArmError(
    400,
    'InvalidRequestContent',
    `The request content was invalid: it names more than ${maxReferences} other resources.`,
  );
}

/** Whether a folded id is another one or below it. */
export function isWithin(key: string, above: string): boolean {
  return key === above || (key.startsWith(above) && key[above.length] === '/');
}

function referenceKey(text: string): string | undefined {
  if (!text.startsWith('/')) return undefined;
  const parsed = parseResourceId(text);
  return parsed.ok && parsed.id.types.length > 0 ? foldCase(parsed.id.text) : undefined;
}
