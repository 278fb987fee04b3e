// What may change or refuse a write between its reading and its storing. http/ and controllers/ alike go through it.
import type { KubeObject } from '../object.ts';
import type { Transaction } from '../objects/objects.ts';
import type { RequestContext } from '../request-context.ts';
import type { ResourceType } from '../types/resource-type.ts';
import type { DeleteOptions, ObjectName } from './registry.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

/** What a write is about, known before the object is. */
export interface AdmissionTarget {
  readonly operation: Operation;
  readonly type: ResourceType;
  /** Empty for the resource itself. */
  readonly subresource: string;
  readonly namespace: string;
}

export interface AdmissionRequest extends AdmissionTarget {
  readonly context: RequestContext;
  /** The name is empty on a create that leaves it to the server. */
  readonly name: ObjectName;
  /** As it would be stored, in the version asked for. A mutating plugin changes it or puts another in its place. */
  object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  readonly deleteOptions: DeleteOptions | undefined;
}

/** One plugin of the chain. It refuses by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Whether it has a say; asked for every write, so it must be quick. */
  concerns(target: AdmissionTarget, context: RequestContext): boolean;
  /**
   * Whether it may return promises (webhooks). Writes that only plugins without waits look at are made inside one commit and
   * never have to be tried again.
   */
  readonly waits: boolean;
  /** Runs before the type's own preparation and validation. */
  mutate?(request: AdmissionRequest): void | Promise<void>;
  /** Runs on what will be stored. */
  validate?(request: AdmissionRequest): void | Promise<void>;
  /**
   * Runs last, within the commit that creates or changes the object: what it writes there and the object are stored together or
   * not at all. Writes nothing in a dry run.
   */
  account?(request: AdmissionRequest, transaction: Transaction): void;
}

/** The plugins, in order, that one write has to pass. */
export function concerned(
  plugins: readonly AdmissionPlugin[],
  target: AdmissionTarget,
  context: RequestContext,
): readonly AdmissionPlugin[] {
  return plugins.length === 0 ? plugins : plugins.filter((plugin) => plugin.concerns(target, context));
}

type Phase = 'mutate' | 'validate';

/** Runs one phase of plugins that do not wait. */
export function admitNow(plugins: readonly AdmissionPlugin[], phase: Phase, request: AdmissionRequest): void {
  for (const plugin of plugins) {
    if (plugin[phase]?.(request) !== undefined) throw new Error(`the admission plugin ${plugin.name} waits unasked`);
  }
}

/** Runs one phase of plugins, one after the other. */
export async function admit(
  plugins: readonly AdmissionPlugin[],
  phase: Phase,
  request: AdmissionRequest,
): Promise<void> {
  for (const plugin of plugins) await plugin[phase]?.(request);
}
