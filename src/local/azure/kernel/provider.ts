// What a provider namespace is: data about its resource types and the functions that are special about them. Everything that all
// resources have in common — ids, api-versions, authorisation, etags, locks, asynchronous operations, durations, faults, deletion in the
// right order — is done by the kernel around these, so most types are a few lines.
import type { TSchema } from 'typebox';
import type { ArmError } from '../../../arm/errors.ts';
import type { ResourceId } from '../../../arm/resource-id.ts';
import type { Secret } from '../../../kit/secret.ts';
import type { ArmResource, Json, JsonObject, ResourceRecord } from './record.ts';
import type { World } from './world.ts';

export interface Provider {
  /** `Microsoft.Network`, spelt as Azure does. */
  readonly namespace: string;
  /** Registered in every subscription from the start, as Microsoft.Resources and Microsoft.Authorization are. */
  readonly alwaysRegistered?: boolean;
  readonly types: readonly ResourceType[];
  /** Requests below `/providers/<namespace>/…` or `/subscriptions/<id>/providers/<namespace>/…` that are not about a resource of a type. */
  readonly routes?: readonly ProviderRoute[];
  /** Called once when everything is open: to arm clocks, to start what stands behind resources. */
  start?(world: World): Promise<void>;
  /** Called once before everything is closed, in the reverse order: to end what start or effects have begun. */
  stop?(world: World): Promise<void>;
}

/** How long and in which way the writes of a type take. Times come from the profile (kernel/profiles.ts), by full type and verb. */
export interface Asynchrony {
  /** `operation`: 201 or 202 and a poll. `none`: the answer is the end. */
  readonly create: 'none' | 'operation';
  readonly update: 'none' | 'operation';
  readonly delete: 'none' | 'operation';
  /** Where clients poll; both when left out. */
  readonly headers?: 'Azure-AsyncOperation' | 'Location' | 'both';
}

export interface ResourceType {
  /** Below the namespace: `virtualNetworks/subnets`. */
  readonly type: string;
  /** Newest first. Others are refused with the list of these. */
  readonly apiVersions: readonly string[];
  /** `extension`: may stand on any resource, group or subscription. */
  readonly scope: 'tenant' | 'subscription' | 'resourceGroup' | 'extension';
  /** `required`: a tracked resource with a place and tags. `global`: tracked, its location is always `global`. `none`: neither. */
  readonly location: 'required' | 'global' | 'none';
  /** What a name may be, and the words for it when it is something else; any resource name when left out. */
  readonly name?: { readonly form: RegExp; readonly rule: string };
  /** Names that no two resources of this type share anywhere in the cloud (vaults, accounts, registries). */
  readonly globallyNamed?: boolean;
  /** The error for a name that another resource has; a 409 `NameAlreadyExists` when left out. */
  nameTaken?(name: string): ArmError;
  /** Of the body of a PUT, checked whole without coercion. Members that it does not know are kept. Left out: any object. */
  readonly schema?: TSchema;
  readonly asynchrony?: Asynchrony;
  /** The status of a PUT that made the resource; 201 when left out. */
  readonly createdStatus?: 200 | 202;
  /** What a PATCH may change: tags, or the whole by JSON merge patch. 405 when left out. */
  readonly patch?: 'tags' | 'merge';
  /** Set false for types that the server alone makes, which clients only read. */
  readonly writable?: boolean;
  /** Whether an If-Match that does not fit is refused with 412 and answers carry the etag; true when left out. */
  readonly etags?: boolean;
  /** Whether the resource shows its etag as a member too, as those of Microsoft.Network do. */
  readonly etagMember?: boolean;
  /** Set false for types that have no `properties.provisioningState`, such as role assignments and locks. */
  readonly provisioningState?: boolean;
  /**
   * Turns the body of a PUT (or the outcome of a PATCH) into what is kept: defaults filled in, read-only members carried over from the
   * current record, references named. Reads the world, writes nothing. Throws ArmError with the code Azure gives. Left out: the body's
   * properties as they are, and every member named `id` below properties whose value is a resource id counts as a reference.
   */
  prepare?(request: PrepareRequest): Prepared | Promise<Prepared>;
  /** What may stop a delete beside locks, references and children. Throws. */
  beforeDelete?(world: World, record: ResourceRecord): void | Promise<void>;
  /** The error of a delete while these use it; a 409 `InUseResourceCannotBeDeleted` naming them when left out. */
  inUse?(id: ResourceId, users: readonly ResourceRecord[]): ArmError;
  /** The error of a write while an operation is under way on the resource; a 409 `AnotherOperationInProgress` when left out. */
  busy?(record: ResourceRecord): ArmError;
  /** Which references keep their target from being deleted; all when left out. Given the member that names the target. */
  holds?(member: string): boolean;
  /**
   * Work at the end of an operation, before it counts as done: making what the resource stands for, or taking it away. Idempotent: it is
   * repeated after a crash. What it throws fails the operation (an ArmError in its own words). May return what to merge into properties.
   */
  effect?(world: World, event: EffectEvent): Promise<JsonObject | undefined>;
  /** What a GET shows beyond what is kept: children, users of it, states that go with time. Left out: the record's resource. */
  show?(world: World, record: ResourceRecord, apiVersion: string): ArmResource | Promise<ArmResource>;
  /** POST actions by name in lower case, such as `listkeys`. */
  readonly actions?: { readonly [name: string]: Action };
  /**
   * Other actions of authorisation than `<type>/read|write|delete`; by member of a body, such as joining a subnet: linked access. Given the
   * id that is written too, since parts of a resource need no right of their own. Checked before anything that is named is looked for.
   */
  linkedAccess?(body: JsonObject, id: ResourceId): readonly { readonly id: string; readonly action: string }[];
}

export interface PrepareRequest {
  readonly world: World;
  readonly id: ResourceId;
  readonly apiVersion: string;
  /** As sent, checked against the schema. */
  readonly body: JsonObject;
  readonly current: ResourceRecord | undefined;
  readonly caller: CallerIdentity;
  /** For what a parent's write brings along: the parent as the same write leaves it. */
  readonly within?: ArmResource;
}

export interface Prepared {
  /** Without id, name, type: the kernel writes them. `properties.provisioningState` is the kernel's too. */
  readonly resource: Omit<ArmResource, 'id' | 'name' | 'type'>;
  readonly secrets?: { readonly [name: string]: Secret<string> };
  readonly references?: { readonly [id: string]: string };
  /** Other resources of the same subscription that are written or deleted with it, in the same transaction: subnets given within a network. */
  readonly also?: readonly AlsoWrite[];
}

export type AlsoWrite =
  | { readonly kind: 'put'; readonly id: string; readonly body: JsonObject }
  | { readonly kind: 'delete'; readonly id: string };

export interface EffectEvent {
  readonly kind: 'create' | 'update' | 'delete';
  readonly id: ResourceId;
  readonly record: ResourceRecord;
}

/** Who asks, as the token and the directory say. */
export interface CallerIdentity {
  readonly tenantId: string;
  /** Of the user or service principal. */
  readonly objectId: string;
  readonly kind: 'User' | 'ServicePrincipal' | 'ManagedIdentity';
  /** Client id of the application that got the token. */
  readonly appId?: string;
  /** User principal name, or the application's name. */
  readonly name?: string;
  /** Object ids of the groups it is a member of, nested ones too. */
  readonly groups: readonly string[];
}

export interface Action {
  /** Full name for authorisation: `Microsoft.Storage/storageAccounts/listKeys/action`; made of the type and the name when left out. */
  readonly action?: string;
  /** Takes as long as the profile says for `<type>/<name>` and is polled. */
  readonly asynchronous?: boolean;
  /** Answers 200 with the value, 204 with undefined; may write through the world. Throws ArmError. */
  run(request: ActionRequest): Promise<Json | undefined>;
}

export interface ActionRequest {
  readonly world: World;
  readonly id: ResourceId;
  readonly record: ResourceRecord;
  readonly apiVersion: string;
  readonly body: JsonObject | undefined;
  readonly query: { readonly [name: string]: string };
  readonly caller: CallerIdentity;
}

/** A path of a provider that names no resource: SKUs, usages, checkNameAvailability. */
export interface ProviderRoute {
  readonly method: 'GET' | 'POST';
  /** Where it stands: at the tenant's root, in a subscription, in a group, or on any resource. */
  readonly scope: 'tenant' | 'subscription' | 'resourceGroup' | 'extension';
  /** Below the namespace, with parameters: `locations/{location}/usages`. */
  readonly path: string;
  readonly apiVersions: readonly string[];
  /** For authorisation. */
  readonly action: string;
  run(request: RouteRequest): Promise<Json | undefined>;
}

export interface RouteRequest {
  readonly world: World;
  readonly subscriptionId?: string;
  readonly resourceGroup?: string;
  /** For extension routes: the id they stand on. */
  readonly on?: ResourceId;
  readonly parameters: { readonly [name: string]: string };
  readonly apiVersion: string;
  readonly query: { readonly [name: string]: string };
  readonly body: JsonObject | undefined;
  readonly caller: CallerIdentity;
}
