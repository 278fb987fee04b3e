// Which rules of a load balancer name a part of it.

import { idKey } from '../../../arm/resource-id.ts';
import type { JsonObject } from '../kernel/record.ts';
import { textOf } from './text.ts';
import { asReferences } from './users.ts';

/** Which rules name a part, as a member; nothing when none does. */
export function naming(part: string, member: string, rules: readonly JsonObject[]): JsonObject {
  const key = idKey(part);
  const ids = rules.filter((rule) => names(rule.properties as JsonObject | undefined, key)).map(({ id }) => textOf(id));
  return ids.length === 0 ? {} : { [member]: asReferences(ids) };
}

function names(properties: JsonObject | undefined, key: string): boolean {
  return Object.values(properties ?? {})
    .flat()
    .some((value) => {
      const id = typeof value === 'object' && value !== null ? (value as JsonObject).id : undefined;
      return typeof id === 'string' && idKey(id) === key;
    });
}
