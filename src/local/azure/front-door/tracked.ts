// Tracked resources of providers, as the rest of the cloud has them: a record with name, place, tags and state, so that lists show
// them, groups take them along when they go and templates deploy them. The provider has the resource itself.
import { isRecord } from '../../../arm/record.ts';
import { parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { Secret } from '../../../kit/secret.ts';
import type { Action, CallerIdentity, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import { dropIdentity } from '../managed-identity/resource-identity.ts';
import { isReflecting } from './caller.ts';
import type { EndpointType } from './endpoint.ts';
import { linksIn } from './linked-access.ts';

/** What the types of providers need of the front door. */
export interface Reach {
  /** PUT with the rights of a caller, until the end. Throws what the provider says. */
  put(id: ResourceId, request: KeptRequest): Promise<void>;
  /** DELETE, until the resource is gone. */
  remove(id: ResourceId): Promise<void>;
  show(id: ResourceId, apiVersion: string): Promise<ArmResource>;
  act(
    id: ResourceId,
    action: string,
    apiVersion: string,
    body: unknown,
    caller: CallerIdentity,
  ): Promise<Json | undefined>;
  /** Looks at the resource again soon and writes down how it is. */
  follow(id: ResourceId): void;
}

export interface KeptRequest {
  readonly apiVersion: string;
  readonly caller: CallerIdentity;
  readonly body: JsonObject;
}

/** Members that Resource Manager keeps of a resource. Never properties: there may be secrets in them. */
const keptMembers = [
  'location',
  'tags',
  'sku',
  'kind',
  'plan',
  'identity',
  'managedBy',
  'zones',
  'extendedLocation',
] as const;

export function envelopeOf(body: JsonObject): JsonObject {
  const kept: { [name: string]: Json } = {};
  for (const name of keptMembers) {
    const value = body[name];
    if (value !== undefined && value !== null) kept[name] = value;
  }
  const state = isRecord(body.properties) ? body.properties.provisioningState : undefined;
  return { ...kept, properties: typeof state === 'string' ? { provisioningState: state } : {} };
}

/** Set on a record whose resource the provider has removed. */
export function markedGone(record: ResourceRecord): ResourceRecord {
  const { resource } = record;
  return { ...record, resource: { ...resource, properties: { ...resource.properties, gone: true } } };
}

/** `current` is the type as it is registered at the time. */
export function remoteType(current: () => EndpointType, reach: Reach): ResourceType {
  const { type, tracked } = current();
  if (!tracked)
    return {
      type,
      get apiVersions() {
        return current().apiVersions;
      },
      scope: 'subscription',
      location: 'none',
      writable: false,
    };
  return {
    type,
    get apiVersions() {
      return current().apiVersions;
    },
    get actions() {
      return Object.fromEntries(
        (current().actions ?? []).map((name) => [name.toLowerCase(), remoteAction(name, reach)]),
      );
    },
    scope: 'resourceGroup',
    location: 'required',
    etags: false,
    provisioningState: false,
    linkedAccess: linksIn,
    prepare({ body, caller, apiVersion, current: record }) {
      const resource = envelopeOf(body);
      if (isReflecting(caller)) return { resource, references: {} };
      const request: KeptRequest = { apiVersion, caller, body };
      const state = record === undefined ? 'Creating' : 'Updating';
      return {
        resource: { ...resource, properties: { provisioningState: state } },
        secrets: { request: new Secret(JSON.stringify(request)) },
        references: {},
      };
    },
    async effect(world, { kind, id, record }) {
      if (kind === 'delete') {
        if (record.resource.properties?.gone !== true) await reach.remove(id);
        await dropIdentity(world, record);
        return undefined;
      }
      const request = record.secrets?.request;
      if (request === undefined) return undefined;
      try {
        await reach.put(id, JSON.parse(request.reveal()) as KeptRequest);
      } finally {
        reach.follow(id);
      }
      return { provisioningState: 'Succeeded' };
    },
    async show(_world, { resource }, apiVersion) {
      const parsed = parseResourceId(resource.id);
      return parsed.ok ? reach.show(parsed.id, apiVersion) : resource;
    },
  };
}

function remoteAction(name: string, reach: Reach): Action {
  return {
    run: ({ id, apiVersion, body, caller }) => reach.act(id, name, apiVersion, body, caller),
  };
}
