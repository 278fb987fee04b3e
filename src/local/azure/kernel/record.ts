// What is kept of a resource.

import type { SystemData } from '../../../arm/system-data.ts';
import type { Secret } from '../../../kit/secret.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [member: string]: Json | undefined;
}

/** A resource as ARM shows it. Members beside these (sku, identity, kind, zones, plan, extendedLocation …) stand at the top as well. */
export interface ArmResource extends JsonObject {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly location?: string;
  readonly tags?: { readonly [name: string]: string };
  readonly properties?: JsonObject;
}

/**
 * One resource, resource group or child of either: a document whose partition is the subscription (folded; `tenant` without one) and
 * whose id is the folded resource id. Names keep the case of the first write, as in Azure.
 */
export interface ResourceRecord {
  /** Folded full type: `microsoft.network/virtualnetworks/subnets`; `microsoft.resources/resourcegroups` for a group. */
  readonly type: string;
  /** Folded id of the resource group it is in. */
  readonly group?: string;
  /** Folded id of the resource it is a child or an extension of. */
  readonly parent?: string;
  /** The newest shape, whatever the api-version it was written with; what no view hides. Never holds secrets. */
  readonly resource: ArmResource;
  /** Sealed at rest; shown only by the actions that are for it. */
  readonly secrets?: { readonly [name: string]: Secret<string> };
  /** Folded ids of the resources this one uses, each with the member that names it: `properties.networkSecurityGroup.id`. */
  readonly references: { readonly [id: string]: string };
  readonly systemData?: SystemData;
  /** The asynchronous operation under way on it: its id. */
  readonly operation?: string;
}
