// What the server needs to know to serve a resource. Built-ins are data in this folder, one file per group; custom resources
// make theirs from a CustomResourceDefinition. The verbs in registry/ work on any of them.

import type { JsonObject, KubeObject } from '../object.ts';
import type { Entry, StorageType } from '../objects/objects.ts';
import type { RequestContext } from '../request-context.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, 1 with -o wide. */
  readonly priority: number;
  readonly cell: (object: KubeObject, now: number) => string | number | boolean | null;
}

/** What is particular to a type. Every function may change `object` in place where it says so; none waits. */
export interface Strategy {
  /**
   * Reads a parsed body as the server's decoder does: refuses wrong types (StatusError 400), drops what the type does not have
   * and names it (`spec.foo`) for field validation. Gives a new object; apiVersion and kind are set. Runs before everything else,
   * on create and on the outcome of every update and patch.
   */
  readonly decode?: (body: JsonObject) => { readonly object: KubeObject; readonly unknown: readonly string[] };
  /** Fills what the schema's defaults cannot say. Changes the object. */
  readonly defaults?: (object: KubeObject) => void;
  /** Sets what the server owns on create (status cleared, cluster IP …). Changes the object. */
  readonly prepareCreate?: (object: KubeObject, context: RequestContext) => void;
  /** Keeps what this verb may not change (status on a main-resource update). Changes the object. */
  readonly prepareUpdate?: (object: KubeObject, old: KubeObject, context: RequestContext) => void;
  /**
   * Marks an object that is asked to go and has its own way of doing so: it is kept while it has finalizers, and is not marked
   * otherwise. Changes the object.
   */
  readonly prepareDelete?: (object: KubeObject, context: RequestContext) => void;
  /** All checks of a create, those of metadata and name included. */
  readonly validate?: (object: KubeObject) => FieldError[];
  /** All checks of an update, those of `validate` included where the server makes them. Left out: `validate`. */
  readonly validateUpdate?: (object: KubeObject, old: KubeObject) => FieldError[];
  /** Whether the checks may take long and are then made in turns: they throw TurnOver, and the write begins again. */
  readonly takesTurns?: boolean;
  readonly warnings?: (object: KubeObject) => string[];
  /** What field selectors may ask beside metadata.name and metadata.namespace. */
  readonly fields?: (object: KubeObject) => Record<string, string>;
  /** Seconds of grace a delete gives, from the object and the options asked for; undefined removes at once. */
  readonly grace?: (object: KubeObject, asked: number | undefined) => number | undefined;
  /**
   * Whether metadata.generation grows: compares what the user wants. Left out: spec (or everything but metadata and status).
   * False: the type's objects have no generation at all (config maps, roles …).
   */
  readonly generation?: false | ((object: KubeObject, old: KubeObject) => boolean);
  readonly nameRule?: (name: string, prefix: boolean) => string[];
}

/**
 * `status` is another way to update the same object: its prepareUpdate keeps what that way may not change (status, but also a
 * CSR's approval or a namespace's finalize). `scale` is generic; others are handled by a function of their own.
 */
export type Subresource =
  | {
      readonly kind: 'status';
      /** Left out: get, patch, update. */
      readonly verbs?: readonly Verb[];
      readonly prepareUpdate?: Strategy['prepareUpdate'];
      /** Left out: that of the strategy. */
      readonly validateUpdate?: Strategy['validateUpdate'];
    }
  | {
      readonly kind: 'scale';
      readonly specReplicas: string;
      readonly statusReplicas: string;
      readonly selector?: string;
    }
  | {
      readonly kind: 'action';
      readonly verbs: readonly Verb[];
      readonly request: { readonly group: string; readonly version: string; readonly kind: string };
    };

export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly subresources: Readonly<Record<string, Subresource>>;
  /** Where its objects are kept; versions of one resource share it. */
  readonly storage: StorageType;
  /** The version its objects are kept in. */
  readonly storageVersion: string;
  readonly schema: Schema;
  readonly columns: readonly Column[];
  readonly strategy: Strategy;
  /** From the storage version to this one and back; left out when only apiVersion differs. */
  readonly convert?: {
    readonly toServed: (object: KubeObject, entry?: Entry) => KubeObject;
    readonly toStored: (object: KubeObject) => KubeObject;
    /**
     * Where a webhook converts: the others throw PendingConversion for what is not there yet, and this waits for what many entries
     * need, in one go. Undefined where all is there.
     */
    readonly ready?: (entries: readonly Entry[]) => Promise<void> | undefined;
  };
  /** What every client of this version is warned of. */
  readonly deprecation?: string;
  /** Custom resources: unknown fields are pruned, defaults come from the schema, CEL rules run. */
  readonly custom?: { readonly preserveUnknownFields: boolean };
}

/** The types that one cluster serves: the built-ins, shared by all clusters, and its own custom resources. */
export interface TypeTable {
  find(group: string, version: string, plural: string): ResourceType | undefined;
  findKind(group: string, version: string, kind: string): ResourceType | undefined;
  /** In discovery order. */
  all(): Iterable<ResourceType>;
  /** Changes whenever a custom resource comes, goes or changes; discovery and OpenAPI are cached by it. */
  readonly etag: string;
}
