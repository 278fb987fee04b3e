// Applies one manifest by the strategy that its work asks for.
import { isDeepStrictEqual } from 'node:util';
import type { Applied, KubeClient } from '../kube/client.ts';
import { isAlreadyExists, isConflict, isInvalid } from '../kube/kube-error.ts';
import { keyOf, type OwnerReference, type UntypedObject } from '../kube/object.ts';
import { refersTo } from '../kube/owner.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { reduceIgnored, specHashAnnotation } from './ignore-fields.ts';
import { withOwnership } from './ownership.ts';
import { hashOf, isSettled, repairWaitMs, type Settled, settledAfter } from './settled.ts';
import { covers, newObject, overlaid, replaced } from './update-object.ts';
import { appliedManifestWorks, type ServerSideApplyConfig } from './work.ts';

export interface ApplyInput {
  readonly client: KubeClient;
  readonly ref: ResourceRef;
  readonly desired: UntypedObject;
  readonly strategy: { readonly type: string; readonly serverSideApply?: ServerSideApplyConfig };
  readonly owner: OwnerReference;
  readonly owned: boolean;
  /** As it was last seen; a moment old perhaps. */
  readonly existing: UntypedObject | undefined;
  readonly settled: Settled | undefined;
  /** As performance.now() tells. */
  readonly now: number;
  readonly signal: AbortSignal;
}

export interface ApplyOutcome {
  /** As it is now; undefined where it is not there. */
  readonly object: UntypedObject | undefined;
  readonly settled: Settled | undefined;
  /** Somebody has changed the object again and again: when to put it right next. */
  readonly repairInMs?: number;
}

/** Another manager owns fields of the object. Trying again will not help until one of them lets go. */
export class ApplyConflictError extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
    this.name = 'ApplyConflictError';
  }
}

type Strategy = (input: ApplyInput) => Promise<ApplyOutcome>;

const strategies: Readonly<Record<string, Strategy>> = {
  Update: update,
  CreateOnly: createOnly,
  ServerSideApply: serverSideApply,
  ReadOnly: async ({ existing, settled }) => ({ object: existing, settled }),
};

/** Conflicts with other writers are settled by reading afresh, this many times. */
const attempts = 4;

/**
 * Makes the object what the manifest says, and owned as the work says; writes nothing where that is so. Throws what the server
 * throws, IgnoreFieldError, and ApplyConflictError.
 */
export async function applyManifest(input: ApplyInput): Promise<ApplyOutcome> {
  const strategy = strategies[input.strategy.type];
  if (!strategy) throw new Error(`the update strategy ${input.strategy.type} is not known`);
  let { existing } = input;
  for (let attempt = 1; ; attempt++) {
    try {
      // What is being deleted is made anew when it is gone.
      if (existing?.metadata.deletionTimestamp) return { object: existing, settled: undefined };
      return await strategy({ ...input, existing });
    } catch (error) {
      if (!(isConflict(error) || isAlreadyExists(error)) || attempt >= attempts) throw error;
      existing = await input.client.find(input.ref, keyOf(input.desired), { signal: input.signal });
    }
  }
}

async function update(input: ApplyInput): Promise<ApplyOutcome> {
  const { client, ref, desired, existing, owner, owned, settled, now, signal } = input;
  const hash = hashOf(desired);
  const done = (object: UntypedObject): ApplyOutcome => ({
    object,
    settled: settledAfter(settled, hash, object, now),
  });
  if (!existing) return done(await client.create(ref, newObject(desired, owner, owned), { signal }));
  const whole = replaced(existing, desired, owner, owned);
  // Where the contents are what the server made of the manifest, only the metadata count.
  const next = isSettled(settled, hash, existing) ? { ...existing, metadata: whole.metadata } : whole;
  if (next === existing || isDeepStrictEqual(next, existing)) return { object: existing, settled };
  const repairInMs = repairWaitMs(settled, hash, now);
  if (repairInMs > 0) return { object: existing, settled, repairInMs };
  try {
    return done(await client.replace(ref, next, { signal }));
  } catch (error) {
    if (!isInvalid(error)) throw error;
    return done(await replaceRefused(input, existing, error));
  }
}

/** Some kinds refuse to lose what the server has filled in, or to be changed at all. */
async function replaceRefused(input: ApplyInput, existing: UntypedObject, refusal: Error): Promise<UntypedObject> {
  const { client, ref, desired, owner, owned, signal } = input;
  if (ref.group === '' && ref.kind === 'Secret' && (desired.type ?? 'Opaque') !== existing.type) {
    const { uid } = existing.metadata;
    await client.delete(ref, keyOf(existing), { signal, ...(uid ? { preconditions: { uid } } : {}) });
    return client.create(ref, newObject(desired, owner, owned), { signal });
  }
  const next = overlaid(existing, desired, owner, owned);
  if (next === existing) return existing;
  // Only owner, labels or annotations differ, or fields that may change.
  try {
    return await client.replace(ref, next, { signal });
  } catch (error) {
    throw isInvalid(error) && !covers(existing, desired) ? refusal : error;
  }
}

async function createOnly(input: ApplyInput): Promise<ApplyOutcome> {
  const { client, ref, desired, existing, owner, owned, settled, signal } = input;
  const object = existing
    ? await setOwner(input, existing)
    : await client.create(ref, newObject(desired, owner, owned), { signal });
  return { object, settled };
}

const defaultFieldManager = 'work-agent';

async function serverSideApply(input: ApplyInput): Promise<ApplyOutcome> {
  const { client, ref, existing, settled, now, signal } = input;
  const { force = false, fieldManager, ignoreFields = [] } = input.strategy.serverSideApply ?? {};
  const { status: _, ...wanted } = input.desired;
  const ignoring = ignoreFields.length > 0 ? reduceIgnored(wanted, ignoreFields) : undefined;
  const body = withOwners(input, ignoring ? (existing ? ignoring.reduced : ignoring.whole) : wanted);
  const hash = hashOf([ignoring?.hash ?? wanted, force, fieldManager]);
  if (existing && ignoring && existing.metadata.annotations?.[specHashAnnotation] === ignoring.hash) {
    return { object: await setOwner(input, existing), settled };
  }
  if (existing && isSettled(settled, hash, existing) && hasMetadata(existing, wanted)) {
    return { object: await setOwner(input, existing), settled };
  }
  const repairInMs = existing ? repairWaitMs(settled, hash, now) : 0;
  if (repairInMs > 0) return { object: existing, settled, repairInMs };
  let applied: UntypedObject;
  try {
    applied = await client.apply(ref, body as Applied<UntypedObject>, {
      fieldManager: fieldManager || defaultFieldManager,
      force,
      signal,
    });
  } catch (error) {
    throw isConflict(error) ? new ApplyConflictError(error) : error;
  }
  const object = await setOwner(input, applied);
  return { object, settled: settledAfter(existing ? settled : undefined, hash, object, now) };
}

/**
 * The body with the owner references of works in it, so that an object never exists without its owner. Those of other works are
 * applied again: they may be applied under the same manager, whose fields this replaces.
 */
function withOwners({ existing, owner, owned }: ApplyInput, body: UntypedObject): UntypedObject {
  const works = existing?.metadata.ownerReferences?.filter((each) => refersTo(each, appliedManifestWorks)) ?? [];
  const references = withOwnership([...(body.metadata.ownerReferences ?? []), ...works], owner, owned) ?? [];
  if (references.length === 0) return body;
  return { ...body, metadata: { ...body.metadata, ownerReferences: [...references] } };
}

/** Adds or removes the work's owner reference, and nothing else. */
async function setOwner(input: ApplyInput, object: UntypedObject): Promise<UntypedObject> {
  const { client, ref, owner, owned, signal } = input;
  const references = withOwnership(object.metadata.ownerReferences, owner, owned);
  if (references === object.metadata.ownerReferences) return object;
  return writeOwners(client, ref, object, references ?? [], signal);
}

/** Writes the owner references of an object, if it is still as it was read. Throws KubeError (Conflict). */
export function writeOwners(
  client: KubeClient,
  ref: ResourceRef,
  object: UntypedObject,
  ownerReferences: readonly OwnerReference[],
  signal: AbortSignal,
): Promise<UntypedObject> {
  const { uid, resourceVersion } = object.metadata;
  return client.patch(ref, keyOf(object), 'merge', { metadata: { uid, resourceVersion, ownerReferences } }, { signal });
}

function hasMetadata(existing: UntypedObject, desired: UntypedObject): boolean {
  return (['labels', 'annotations'] as const).every((member) =>
    Object.entries(desired.metadata[member] ?? {}).every(
      ([name, value]) => existing.metadata[member]?.[name] === value,
    ),
  );
}
