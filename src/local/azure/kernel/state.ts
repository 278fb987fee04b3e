// Where the resources and their operations are kept: one container, one partition for each subscription, so that a resource and the
// operation on it are always written together.
import type { ErrorBody } from '../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../arm/resource-id.ts';
import type { Secret } from '../../../kit/secret.ts';
import type { Filter } from '../../../store/filter.ts';
import type { Container, Document, Store } from '../../../store/store.ts';
import type { CallerIdentity } from './provider.ts';
import type { ResourceRecord } from './record.ts';

const used = 'yes';

/** A resource as it is stored; its document's id is the folded resource id, which starts with a slash. */
export interface StoredResource extends ResourceRecord {
  readonly kind: 'resource';
  /** What it uses once more, as labels: with a value that is always the same the store finds users on its shortest way. */
  readonly uses?: { readonly [id: string]: typeof used };
  /** It is going: nothing may begin to use it. */
  readonly deleting?: true;
}

export type OperationState = 'Running' | 'Succeeded' | 'Failed' | 'Canceled';

/** An asynchronous operation. Its document's id is `operation/<operationId>`, its partition that of the resource. */
export interface StoredOperation {
  readonly kind: 'operation';
  /** A GUID. */
  readonly operationId: string;
  readonly status: OperationState;
  /** The resource that it is about, as spelt by the resource itself. */
  readonly resourceId: string;
  /** `create`, `update`, `delete`, or an action's name in lower case (see `actionVerb`). */
  readonly verb: string;
  readonly apiVersion: string;
  /** Of the resource, for the path under which it is polled. */
  readonly location?: string;
  /** By the cloud's clock: ISO 8601. */
  readonly startTime: string;
  readonly endTime?: string;
  /** When the work at its end is done; epoch milliseconds by the cloud's clock. */
  readonly dueAt: number;
  readonly error?: ErrorBody;
  /** The HTTP status that fits the error. */
  readonly errorStatus?: number;
  /** What was asked to go wrong with it. */
  readonly fault?:
    | { readonly kind: 'stuck' }
    | { readonly kind: 'fail'; readonly code: string; readonly message: string };
  /** Further resources that are created or updated by it: their folded ids. */
  readonly also?: readonly { readonly key: string; readonly verb: 'create' | 'update' }[];
  /** What was removed together with its beginning and has an effect that takes away what stood behind it. */
  readonly gone?: readonly ResourceRecord[];
  /** Of an action. */
  readonly caller?: CallerIdentity;
  readonly query?: { readonly [name: string]: string };
  /** JSON texts: the body of an action, and what it answered. */
  readonly secrets?: { readonly request?: Secret<string>; readonly result?: Secret<string> };
}

/** Who has a name that is unique in the cloud. In the partition `names`; its document's id is `<folded type>/<folded name>`. */
export interface StoredName {
  readonly kind: 'name';
  /** Folded resource id. */
  readonly owner: string;
}

export type Stored = StoredResource | StoredOperation | StoredName;

export type State = Container<Stored>;

export const namesPartition = 'names';
export const tenantPartition = 'tenant';

/** Ended operations can be asked for this long. */
export const operationTtlSeconds = 86_400;

/** The longest id that a document can have, in bytes. */
export const maxKeyBytes = 1023;

/**
 * The store must have been opened with a key ring: secrets are sealed. Resources of a group are found by the beginning of their ids,
 * operations by their own, so neither has an index: each one costs every write.
 */
export function openState(store: Store): Promise<State> {
  return store.container<Stored>({
    name: 'azure_resources',
    indexes: [
      { field: ['type'], type: 'string' },
      { field: ['parent'], type: 'string' },
      { field: ['status'], type: 'string' },
    ],
    labels: ['uses'],
    sealed: [['secrets', '*']],
  });
}

/** The members of a stored resource that follow from what it uses. */
export function usesOf(references: ResourceRecord['references']): Pick<StoredResource, 'uses'> {
  const uses: { [id: string]: typeof used } = {};
  for (const id in references) uses[id] = used;
  return Object.keys(uses).length === 0 ? {} : { uses };
}

/** Which documents use a resource, by its folded id. */
export function isUsing(key: string): Filter {
  return { op: 'label', key, value: used };
}

/** The partition of a resource id, folded or not. */
export function partitionOf(id: Pick<ResourceId, 'subscriptionId'>): string {
  return id.subscriptionId === undefined ? tenantPartition : foldCase(id.subscriptionId);
}

const inSubscription = /^\/subscriptions\/([0-9a-f-]{36})(?:\/|$)/;

/** The same for a folded id. */
export function partitionOfKey(key: string): string {
  return inSubscription.exec(key)?.[1] ?? tenantPartition;
}

const ownVerbs: ReadonlySet<string> = new Set(['create', 'update', 'delete']);
const actionEnding = '/action';

/** The verb of an operation that an action is: scale sets have an action that is named `delete`. */
export function actionVerb(action: string): string {
  return ownVerbs.has(action) ? `${action}${actionEnding}` : action;
}

/** The action that the verb of an operation is of. */
export function actionOf(verb: string): string {
  return verb.endsWith(actionEnding) ? verb.slice(0, -actionEnding.length) : verb;
}

export function operationKey(operationId: string): string {
  return `operation/${operationId}`;
}

export async function readResource(state: State, key: string): Promise<Document<StoredResource> | undefined> {
  if (key.length * 3 > maxKeyBytes && Buffer.byteLength(key) > maxKeyBytes) return undefined;
  return asResource(await state.read({ partition: partitionOfKey(key), id: key }));
}

export async function readOperation(
  state: State,
  partition: string,
  operationId: string,
): Promise<Document<StoredOperation> | undefined> {
  const document = await state.read({ partition, id: operationKey(operationId) });
  return document?.body.kind === 'operation' ? (document as Document<StoredOperation>) : undefined;
}

export function asResource(document: Document<Stored> | undefined): Document<StoredResource> | undefined {
  return document?.body.kind === 'resource' ? (document as Document<StoredResource>) : undefined;
}
