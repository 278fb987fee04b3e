// The resources of the cloud, as providers, deployments and data planes reach them.
import type { ErrorBody } from '../../../arm/errors.ts';
import type { ResourceId } from '../../../arm/resource-id.ts';
import type { Document } from '../../../store/store.ts';
import type { FaultEffect } from './faults.ts';
import type { ActionRequest, CallerIdentity } from './provider.ts';
import type { ArmResource, Json, JsonObject, ResourceRecord } from './record.ts';

export interface ListQuery {
  readonly subscriptionId?: string;
  /** A resource group's id, any case. */
  readonly group?: string;
  /** A full type, any case. */
  readonly type?: string;
  /** Direct children and extensions of this resource. */
  readonly parent?: string;
  /** Those that use this resource. */
  readonly referencing?: string;
}

/** How a write stands: done, or under way as an operation that can be awaited and polled. */
export interface Written {
  readonly record: ResourceRecord;
  readonly created: boolean;
  /** Undefined when the write is complete. */
  readonly operation?: string;
  /** Of the document after the write; absent after a delete that is complete. */
  readonly etag?: string;
}

/** An asynchronous operation as its pollers see it. */
export interface OperationView {
  readonly id: string;
  /** The id of the resource it is about, as text. */
  readonly resource: string;
  readonly kind: 'create' | 'update' | 'delete' | 'action';
  readonly status: 'InProgress' | 'Succeeded' | 'Failed' | 'Canceled';
  /** RFC 3339. */
  readonly startTime: string;
  readonly endTime?: string;
  readonly error?: ErrorBody;
  /** What an action gave. */
  readonly result?: Json;
}

export interface RecordPage {
  readonly records: readonly ResourceRecord[];
  /** Absent on the last page. */
  readonly continuation?: string;
}

export interface PutOptions {
  readonly apiVersion: string;
  readonly caller: CallerIdentity;
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  /** What faults.on gave for the call: stuck and failed operations are the kernel's to bring about. The front asks faults.on, once a call. */
  readonly faults?: readonly FaultEffect[];
}

export interface Resources {
  /** Undefined when there is none. Ids in any case. */
  read(id: string): Promise<Document<ResourceRecord> | undefined>;
  /** The one that has a name which is unique in the cloud, by full type: the vault or account that a host name is about. */
  named(type: string, name: string): Promise<Document<ResourceRecord> | undefined>;
  /** As a GET shows it. Throws ArmError 404. */
  show(id: ResourceId, apiVersion?: string): Promise<ArmResource>;
  /** A record as a GET shows it, systemData and etag member included where the type has them. */
  view(record: ResourceRecord, apiVersion?: string): ArmResource | Promise<ArmResource>;
  /** In the order of ids. */
  list(query: ListQuery): Promise<readonly ResourceRecord[]>;
  /** A list in pages, for lists that may be long. */
  page(query: ListQuery, page: { readonly limit: number; readonly continuation?: string }): Promise<RecordPage>;
  /** What a PUT does, authorisation apart. Throws ArmError. */
  put(id: ResourceId, body: JsonObject, options: PutOptions): Promise<Written>;
  /** What a PATCH does, authorisation apart. Throws ArmError, 404 and 405 among them. */
  patch(id: ResourceId, body: JsonObject, options: PutOptions): Promise<Written>;
  /** What a POST of an action does, authorisation apart: its answer, or the operation that will have it. Throws ArmError. */
  act(
    id: ResourceId,
    action: string,
    request: Pick<ActionRequest, 'apiVersion' | 'body' | 'query' | 'caller'> & Pick<PutOptions, 'faults'>,
  ): Promise<{ readonly result?: Json; readonly operation?: string }>;
  /** Undefined when there is none, or no longer. */
  operation(subscriptionId: string | undefined, operation: string): Promise<OperationView | undefined>;
  /** What a DELETE does, authorisation apart; undefined when there is nothing. */
  delete(id: ResourceId, options: PutOptions): Promise<Written | undefined>;
  /** Changes what is kept, beside any request: states that go on by themselves. Returning undefined leaves it. */
  change(
    id: string,
    change: (record: ResourceRecord) => ResourceRecord | undefined,
  ): Promise<ResourceRecord | undefined>;
  /** Resolves at the end of an operation: the record (undefined after a delete) or the error it failed with. */
  finished(
    operation: string,
    signal?: AbortSignal,
  ): Promise<{ readonly record?: ResourceRecord; readonly error?: ErrorBody }>;
}
