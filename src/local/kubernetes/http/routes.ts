// What other parts of the server add to it: answers on paths of their own, and handlers of reviews and subresources.

import type { OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AuditLog } from '../access/audit.ts';
import type { HostedCluster } from '../clusters.ts';
import type { KubeObject } from '../object.ts';
import type { RequestContext } from '../request-context.ts';
import type { ResourceType } from '../types/resource-type.ts';

/** An answer that is not an object of the registry. */
export interface Answer {
  readonly status: number;
  /**
   * An object is sent in the form the client accepts; bytes and text as they are. Left out: the answer has no content and its
   * headers say nothing of one, as caches take those of a 304 for the headers of what they keep.
   */
  readonly body?: object | Buffer | string;
  /** For bytes and text. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that comes piece by piece, taken as fast as the client reads. */
export interface StreamedAnswer {
  /** Ends soon after the signal, which fires when the client goes away or the server stops. */
  stream(signal: AbortSignal): AsyncIterable<Buffer>;
  readonly contentType: string;
}

/** The connection is taken for another protocol. */
export interface UpgradeAnswer {
  /** The headers of the answer 101. */
  readonly upgrade: OutgoingHttpHeaders;
  /** Takes the connection. It is destroyed when the server stops. */
  take(connection: Duplex): void;
}

export interface PathRequest {
  readonly cluster: HostedCluster;
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  header(name: string): string | undefined;
}

/** Answers requests that are not about resources; undefined for paths it does not know. */
export type PathHandler = (request: PathRequest) => Answer | undefined | Promise<Answer | undefined>;

export interface ActionRequest {
  readonly context: RequestContext;
  readonly cluster: HostedCluster;
  readonly type: ResourceType;
  /** Empty for a review, which is created and not kept. */
  readonly subresource: string;
  readonly verb: string;
  readonly namespace: string;
  readonly name: string;
  readonly query: URLSearchParams;
  /** The body, decoded as the kind that the action takes; undefined for verbs without. */
  readonly object: KubeObject | undefined;
  header(name: string): string | undefined;
}

/** Handles reviews (by `group/plural`) and action subresources (by `group/plural/subresource`). */
export type ActionHandler = (request: ActionRequest) => ActionAnswer | Promise<ActionAnswer>;
export type ActionAnswer = Answer | StreamedAnswer | UpgradeAnswer;

export interface TableOptions {
  readonly includeObject: 'None' | 'Metadata' | 'Object';
  readonly version: 'v1' | 'v1beta1';
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Left out in all but the first event of a watch. */
  readonly columns: boolean;
  readonly now: number;
}

/** Makes the meta.k8s.io Table that kubectl prints. */
export type TableMaker = (type: ResourceType, objects: readonly KubeObject[], options: TableOptions) => object;

export interface Extensions {
  readonly paths: readonly PathHandler[];
  readonly actions: ReadonlyMap<string, ActionHandler>;
  readonly table?: TableMaker;
  readonly audit?: AuditLog;
}
