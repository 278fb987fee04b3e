// Answers about custom resources, as any server would have given them.
import type { Json, JsonMap } from './case.ts';

export const isMap = (value: Json | undefined): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What no two servers have the same. */
const own = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp', 'time', 'lastTransitionTime']);

/** An answer without what no two servers have the same, and errors in one order: the server's own order is by chance. */
export function comparable(value: Json): Json {
  if (Array.isArray(value)) return value.map(comparable);
  if (!isMap(value)) return value;
  const kept: JsonMap = {};
  for (const [member, content] of Object.entries(value)) {
    if (own.has(member)) continue;
    if (member === 'causes' && Array.isArray(content)) {
      kept.causes = content
        .map(comparable)
        .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
    } else kept[member] = comparable(content);
  }
  if (kept.format !== undefined && kept.priority !== undefined && !kept.description) delete kept.description;
  // Which status fields the server's own writes claim depends on how often it writes.
  if (kept.kind === 'CustomResourceDefinition' && isMap(kept.metadata)) delete kept.metadata.managedFields;
  if (kept.kind === 'Status' && isMap(kept.details) && Array.isArray(kept.details.causes)) {
    if (kept.details.causes.length > 1) kept.message = String(kept.message).split(' is invalid: ')[0] ?? '';
  }
  return kept;
}
