// Permissions as bodies give them and as they are kept.
import { isRecord } from '../../../arm/record.ts';
import { Type } from '../../../arm/type.ts';
import type { Permission } from '../kernel/access.ts';
import type { JsonObject } from '../kernel/record.ts';

/** An action has `*` anywhere and at most this many characters. */
const patterns = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 400, pattern: '^[A-Za-z0-9_.*/-]+$' }), { maxItems: 2048 }),
);

export const permissionSchema = Type.Object({
  actions: patterns,
  notActions: patterns,
  dataActions: patterns,
  notDataActions: patterns,
  condition: Type.Optional(Type.Unknown()),
  conditionVersion: Type.Optional(Type.Unknown()),
});

export function permissionsOf(given: JsonObject[string]): readonly Permission[] {
  if (!Array.isArray(given)) return [];
  return given.filter(isRecord).map((permission) => ({
    actions: texts(permission.actions),
    notActions: texts(permission.notActions),
    dataActions: texts(permission.dataActions),
    notDataActions: texts(permission.notDataActions),
  }));
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

/** Shown as it is kept: a new object, since JSON has no read-only lists. */
export function shownPermission({ actions, notActions, dataActions, notDataActions }: Permission): JsonObject {
  return { actions, notActions, dataActions, notDataActions };
}
