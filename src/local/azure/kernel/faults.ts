// Faults that are asked for, as data: what shall go wrong, for which calls, how often.
import type { Static } from 'typebox';
import type { ArmError } from '../../../arm/errors.ts';
import { Type } from '../../../arm/type.ts';

/** One fault. It applies to the calls that match, from the `after`-th on, `times` times (for ever when left out). */
export const faultSchema = Type.Object(
  {
    id: Type.Optional(Type.String({ pattern: '^[a-z0-9-]{1,64}$' })),
    match: Type.Object(
      {
        method: Type.Optional(Type.String({ pattern: '^[A-Z]+(\\|[A-Z]+)*$' })),
        /** Of the path, in any case; `**` stands for any number of segments, `*` for one or for any part of one. */
        path: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
        host: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
      },
      { additionalProperties: false },
    ),
    after: Type.Optional(Type.Integer({ minimum: 0 })),
    times: Type.Optional(Type.Integer({ minimum: 1 })),
    effect: Type.Union([
      Type.Object({
        kind: Type.Literal('error'),
        status: Type.Integer({ minimum: 400, maximum: 599 }),
        code: Type.String(),
        message: Type.Optional(Type.String()),
        retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 0 })),
      }),
      Type.Object({ kind: Type.Literal('latency'), ms: Type.Integer({ minimum: 0 }) }),
      /** The effect happens, the connection ends without an answer. */
      Type.Object({ kind: Type.Literal('lostAnswer') }),
      /** The operation that the call starts never ends. */
      Type.Object({ kind: Type.Literal('stuck') }),
      /** The operation that the call starts fails with this. */
      Type.Object({
        kind: Type.Literal('failedOperation'),
        code: Type.String(),
        message: Type.Optional(Type.String()),
      }),
      /** Quota of a family in a location: nothing left of it. */
      Type.Object({
        kind: Type.Literal('quota'),
        location: Type.String(),
        family: Type.String(),
        limit: Type.Integer({ minimum: 0 }),
      }),
      Type.Object({ kind: Type.Literal('skuRestricted'), location: Type.String(), sku: Type.String() }),
      /** New role assignments count only after this time. */
      Type.Object({ kind: Type.Literal('slowRoleAssignments'), seconds: Type.Integer({ minimum: 0 }) }),
    ]),
  },
  { additionalProperties: false },
);

export type Fault = Static<typeof faultSchema>;
export type FaultEffect = Fault['effect'];

export interface Call {
  readonly method: string;
  readonly host: string;
  readonly path: string;
}

export interface Faults {
  /** Counts a call and tells what shall happen to it: errors and latency before the effect, the rest with it. */
  on(call: Call): readonly FaultEffect[];
  /** Standing conditions that no call starts: quota, restrictions, slow assignments. */
  standing<K extends FaultEffect['kind']>(kind: K): readonly Extract<FaultEffect, { kind: K }>[];
  add(fault: Fault): string;
  remove(id: string): boolean;
  list(): readonly (Fault & { readonly id: string; readonly seen: number; readonly applied: number })[];
  clear(): void;
}

/** The error that a fault of kind `error` is answered with. */
export type FaultError = (effect: Extract<FaultEffect, { kind: 'error' }>) => ArmError;
