// One request to Resource Manager on its way through the front, and what it is answered with.
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import type { KeyRing } from '../../../kit/key-ring.ts';
import type { FaultEffect } from '../kernel/faults.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import type { PutOptions } from '../kernel/resources.ts';
import type { World } from '../kernel/world.ts';
import type { Registry } from './registry.ts';

export type Method = 'GET' | 'HEAD' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';

/** What every call uses of the cloud around it. */
export interface Front {
  readonly world: World;
  readonly registry: Registry;
  /** Seals the tokens of lists. */
  readonly keys: KeyRing;
  /** Seconds that pollers are asked to wait, by the profile in use. */
  readonly retryAfterSeconds: () => number;
}

/** What a request said of itself, for those who hand it on. */
export interface SentRequest {
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  /** Path and query as the client sent them. */
  readonly target: string;
  readonly requestId: string;
  readonly correlationId: string;
}

export interface ArmCall extends Front {
  readonly method: Method;
  readonly segments: readonly string[];
  /** By lower-case name. */
  readonly query: { readonly [name: string]: string };
  readonly apiVersion: string;
  readonly caller: CallerIdentity;
  /** Parsed; undefined when there was none. */
  readonly body: unknown;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** `https://host:port` as the client calls it; links in answers start with it. */
  readonly origin: string;
  readonly faults: readonly FaultEffect[];
  readonly sent: SentRequest;
}

export interface Answer {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: unknown;
}

export const ok = (body: unknown): Answer => ({ status: 200, body });

/** The body as an object; throws what ARM says to anything else. */
export function objectBody(call: Pick<ArmCall, 'body'>): JsonObject {
  if (isRecord(call.body)) return call.body as JsonObject;
  throw new ArmError(
    400,
    'InvalidRequestContent',
    call.body === undefined
      ? 'The request content was empty; a JSON object is expected.'
      : 'The request content was invalid: a JSON object is expected.',
  );
}

/** As {@link objectBody}, for requests that need none. */
export function optionalBody(call: Pick<ArmCall, 'body'>): JsonObject | undefined {
  return call.body === undefined || call.body === null ? undefined : objectBody(call);
}

/** What a write through the kernel is given of a call. */
export function writeOptions(call: ArmCall): PutOptions {
  const { apiVersion, caller, ifMatch, ifNoneMatch, faults } = call;
  return {
    apiVersion,
    caller,
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
    // Given also when there are none: they have been asked for.
    faults,
  };
}
