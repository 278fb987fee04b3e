// One request to a vault, as its handlers see it.
import type { Static, TSchema } from 'typebox';
import { bodyErrors } from '../../../arm/check-body.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import type { Json, JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { badParameter } from './errors.ts';
import type { Objects } from './objects.ts';

export interface Vault {
  readonly name: string;
  /** Resource id. */
  readonly id: string;
  /** `https://<host>/`. */
  readonly uri: string;
  readonly properties: JsonObject;
  readonly retentionDays: number;
  readonly purgeProtection: boolean;
}

/** A vault and where its content is. */
export interface VaultPlace {
  readonly world: World;
  readonly objects: Objects;
  readonly vault: Vault;
}

export interface VaultCall extends VaultPlace {
  readonly caller: CallerIdentity;
  readonly apiVersion: string;
  readonly parameters: { readonly [name: string]: string };
  readonly query: { readonly [name: string]: string };
  readonly body: unknown;
}

export interface VaultAnswer {
  readonly status?: number;
  readonly body?: Json;
  readonly headers?: { readonly [name: string]: string };
}

/** What a request needs: a permission of an access policy, or a data action in vaults that go by roles. */
export interface Need {
  readonly permission: readonly ['secrets' | 'keys' | 'certificates', string];
  /** Below `Microsoft.KeyVault/vaults/`. */
  readonly action: string;
}

export interface VaultRoute {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';
  /** `secrets/{name}`. */
  readonly path: string;
  readonly need: Need;
  run(call: VaultCall): Promise<VaultAnswer>;
}

/** Epoch seconds, as vaults count. */
export function nowSeconds({ world }: Pick<VaultPlace, 'world'>): number {
  return Math.floor(world.clock.now() / 1000);
}

/** The body in the form that the schema describes. Throws BadParameter. */
export function bodyOf<T extends TSchema>(call: VaultCall, schema: T): Static<T> {
  const value = call.body ?? {};
  const [first] = bodyErrors(schema, value);
  if (first === undefined) return value as Static<T>;
  throw badParameter(
    `The request body is not valid. ${first.target === '' ? '' : `${first.target}: `}${first.message}`,
  );
}

const nameForm = /^[0-9a-zA-Z-]{1,127}$/;
const versionForm = /^[0-9a-fA-F]{32}$/;

export function nameOf({ parameters }: VaultCall): string {
  const name = parameters.name ?? '';
  if (nameForm.test(name)) return name;
  throw badParameter(`The request URI contains an invalid name: ${name.slice(0, 128)}`);
}

/** Undefined for the newest. */
export function versionOf({ parameters }: VaultCall): string | undefined {
  const { version } = parameters;
  if (version === undefined || version === '') return undefined;
  if (versionForm.test(version)) return version.toLowerCase();
  throw badParameter(`The request URI contains an invalid version: ${version.slice(0, 128)}`);
}
