// Bodies of requests to Microsoft.Compute: checked whole, in the words of that provider.
import type { Static, TSchema } from 'typebox';
import { bodyErrors } from '../../../arm/check-body.ts';
import { ArmError } from '../../../arm/errors.ts';
import { Type } from '../../../arm/type.ts';
import type { JsonObject } from '../kernel/record.ts';
import { withoutNulls } from '../network/request-body.ts';

export const reference = Type.Object({ id: Type.String() });
export const optionalReference = Type.Optional(Type.Object({ id: Type.Optional(Type.String()) }));

/** The value as the schema describes it; `null` counts as left out. Throws InvalidParameter with all that is wrong. */
export function shaped<T extends TSchema>(schema: T, value: JsonObject | undefined): Static<T> {
  const given = withoutNulls(value ?? {});
  const [first, ...more] = bodyErrors(schema, given);
  if (first === undefined) return given as Static<T>;
  throw new ArmError(400, 'InvalidParameter', first.message, {
    target: first.target,
    details: more.slice(0, 20).map(({ target, message }) => ({ code: 'InvalidParameter', message, target })),
  });
}

export function missingParameter(name: string): ArmError {
  return new ArmError(400, 'InvalidParameter', `Required parameter '${name}' is missing (null).`, { target: name });
}

export function invalidValue(name: string, value: string): ArmError {
  return new ArmError(
    400,
    'InvalidParameter',
    `The value '${value.slice(0, 100)}' of parameter '${name}' is invalid.`,
    {
      target: name,
    },
  );
}
