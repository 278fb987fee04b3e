// Bodies of requests to Microsoft.Network: checked whole, in the words of that provider.
import type { Static, TSchema } from 'typebox';
import { bodyErrors } from '../../../arm/check-body.ts';
import { ArmError } from '../../../arm/errors.ts';
import { Type } from '../../../arm/type.ts';
import type { Json, JsonObject } from '../kernel/record.ts';

/** `{ "id": "/subscriptions/…" }`. */
export const reference = Type.Object({ id: Type.String() });

/** A member of a list that is a resource of its own or shown like one. */
export function namedPart<T extends TSchema>(properties: T) {
  return Type.Object({
    name: Type.Optional(Type.String()),
    id: Type.Optional(Type.String()),
    zones: Type.Optional(Type.Array(Type.String())),
    properties: Type.Optional(properties),
  });
}

/** Throws for a list that is longer than Azure lets it be. Called before anything is done with what is in it. */
export function demandAtMost(most: number, list: readonly unknown[], what: string): void {
  if (list.length > most)
    throw new ArmError(
      400,
      'InvalidRequestFormat',
      `Cannot parse the request: there are ${list.length} ${what}, and ${most} is the most.`,
    );
}

export const texts = Type.Array(Type.String());

/** The value as the schema describes it; `null` counts as left out, as in Azure. Throws InvalidRequestFormat with all that is wrong. */
export function shaped<T extends TSchema>(schema: T, value: JsonObject | undefined): Static<T> {
  const given = withoutNulls(value ?? {});
  const errors = bodyErrors(schema, given);
  if (errors.length > 0)
    throw new ArmError(400, 'InvalidRequestFormat', 'Cannot parse the request.', {
      details: errors.slice(0, 20).map(({ target, message }) => ({ code: 'InvalidJson', message, target })),
    });
  return given as Static<T>;
}

/** Bodies are of bounded depth. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const kept: { [member: string]: Json } = {};
  for (const [name, member] of Object.entries(value))
    if (member !== null && member !== undefined) kept[name] = withoutNulls(member);
  return kept;
}

/** The properties of a body without nulls and without the members that only the server writes. */
export function ownProperties(body: JsonObject, readOnly: readonly string[]): { [member: string]: Json | undefined } {
  const { properties = {} } = withoutNulls(body) as { readonly properties?: JsonObject };
  const own: { [member: string]: Json | undefined } = { ...properties };
  for (const name of ['provisioningState', ...readOnly]) delete own[name];
  return own;
}
