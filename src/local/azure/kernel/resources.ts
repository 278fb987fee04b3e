// The resources of the cloud, as providers, deployments and data planes reach them.
import type { ErrorBody } from '../../../arm/errors.ts';
import type { ResourceId } from '../../../arm/resource-id.ts';
import type { Document } from '../../../store/store.ts';
import type { CallerIdentity } from './provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from './record.ts';

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
}

export interface PutOptions {
  readonly apiVersion: string;
  readonly caller: CallerIdentity;
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
}

export interface Resources {
  /** Undefined when there is none. Ids in any case. */
  read(id: string): Promise<Document<ResourceRecord> | undefined>;
  /** As a GET shows it. Throws ArmError 404. */
  show(id: ResourceId, apiVersion?: string): Promise<ArmResource>;
  /** In the order of ids. */
  list(query: ListQuery): Promise<readonly ResourceRecord[]>;
  /** What a PUT does, authorisation apart. Throws ArmError. */
  put(id: ResourceId, body: JsonObject, options: PutOptions): Promise<Written>;
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
