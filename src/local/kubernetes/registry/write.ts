// One write of one object, from what the client wants to what is stored. Create, update, patch and finalizers go through here.

import { isDeepStrictEqual } from 'node:util';
import { accessForbidden } from '../access/forbidden.ts';
import { keepTimesOfNoChange, trackUpdate } from '../apply/track-update.ts';
import { beginTurns, checkedInTurns, inTurns, type Progress } from '../cel/turns.ts';
import type { KubeObject } from '../object.ts';
import type { Entry, Objects, StorageType, Transaction } from '../objects/objects.ts';
import { equalJson } from '../patch/json-tree.ts';
import type { RequestContext } from '../request-context.ts';
import { alreadyExists, badRequest, conflict, invalid, notFound, objectModified, type Subject } from '../status.ts';
import { validateMetadataUpdate } from '../types/metadata.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { type AdmissionPlugin, type AdmissionRequest, admit, admitNow, concerned } from './admission.ts';
import { removesOnUpdate } from './deletion.ts';
import { prepareNew } from './new-object.ts';
import { converting } from './pending-conversion.ts';
import { previewEntry } from './preview-entry.ts';
import type { ObjectName, Written } from './registry.ts';
import { readObject, storedObject } from './served.ts';
import { timestamp } from './timestamp.ts';
import { trackedType } from './tracked-type.ts';
import { createsOnUpdate, needsResourceVersion } from './write-rules.ts';

export interface Write {
  readonly context: RequestContext;
  readonly type: ResourceType;
  readonly name: ObjectName;
  /** Empty for the resource itself. */
  readonly subresource: string;
  readonly plugins: readonly AdmissionPlugin[];
  /** create refuses what exists; update refuses what does not, unless the type creates by update; apply does either. */
  readonly mode: 'create' | 'update' | 'apply';
  /**
   * What the client wants, in the served version, from what is there; the write takes it over. `again`: it may be called another
   * time, since the write has to wait and others may be quicker.
   */
  readonly wanted: (live: KubeObject | undefined, again: boolean) => KubeObject;
  /** `wanted` has seen to metadata.managedFields. */
  readonly tracks?: boolean;
  /** A patch builds on what is there, whatever its resourceVersion; an update must say so. */
  readonly patch?: boolean;
}

interface Draft {
  readonly entry: Entry | undefined;
  readonly live: KubeObject | undefined;
  readonly request: AdmissionRequest;
}

const subjectOf = (type: ResourceType): Subject => ({ group: type.group, resource: type.plural });

/** How often a write that waits for webhooks is tried when others write the same object. */
const mostAttempts = 10;

export function write(objects: Objects, options: Write): Promise<Written> {
  const { type } = options;
  if (!type.strategy.takesTurns) return converting(type, () => writeOnce(objects, options, undefined));
  const progress = beginTurns();
  return converting(type, () => inTurns(progress, () => writeOnce(objects, options, progress)));
}

async function writeOnce(objects: Objects, options: Write, progress: Progress | undefined): Promise<Written> {
  const { context, type, name } = options;
  const target = {
    operation: options.mode === 'create' ? ('CREATE' as const) : ('UPDATE' as const),
    type,
    subresource: options.subresource,
    namespace: name.namespace,
  };
  const plugins = concerned(options.plugins, target, context);
  if (!plugins.some((plugin) => plugin.waits)) {
    return objects.commit((transaction) => {
      const draft = begin(transaction, options, type.convert?.ready !== undefined || progress !== undefined);
      admitNow(plugins, 'mutate', draft.request);
      checkedInTurns(progress, () => prepare(options, draft));
      admitNow(plugins, 'validate', draft.request);
      return finish(transaction, options, draft, plugins);
    });
  }
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const draft = begin(objects, options, true);
    await admit(plugins, 'mutate', draft.request);
    // Webhooks are not asked again for each turn.
    await inTurns(progress, () => checkedInTurns(progress, () => prepare(options, draft)));
    await admit(plugins, 'validate', draft.request);
    const written = await objects.commit((transaction) => {
      const now = transaction.get(type.storage, name.namespace, name.name);
      if (options.mode !== 'create' && now?.revision !== draft.entry?.revision) return undefined;
      return finish(transaction, options, draft, plugins);
    });
    if (written) return written;
  }
  throw objectModified(subjectOf(type), name.name);
}

/** Takes what the client wants and checks it against what is there. */
function begin(reader: Pick<Objects, 'get'>, options: Write, again: boolean): Draft {
  const { context, type, name, subresource, mode } = options;
  // Whether a new object's name is taken comes last, after everything that may be wrong with the object.
  const entry = mode === 'create' ? undefined : reader.get(type.storage, name.namespace, name.name);
  const creates = !entry;
  if (creates && mode === 'update' && (subresource !== '' || options.patch || !createsOnUpdate(type))) {
    throw notFound(subjectOf(type), name.name);
  }
  if (creates && subresource !== '') throw notFound(subjectOf(type), name.name);
  if (creates && mode !== 'create') checkMayCreate(options);
  const live = entry && readObject(type, entry);
  let object = options.wanted(live, again);
  type.strategy.defaults?.(object);
  if (entry) checkAgainst(options, object, entry);
  else if (mode !== 'create') {
    const { uid } = object.metadata;
    if (uid) throw mode === 'apply' ? noSuchUid(type, name, uid) : otherUid(type, name, uid, '');
    checkVersionForm(object.metadata.resourceVersion);
    delete object.metadata.resourceVersion;
  }
  if (!options.tracks) object = track(options, live, object);
  const request: AdmissionRequest = {
    operation: creates ? 'CREATE' : 'UPDATE',
    context,
    type,
    subresource,
    namespace: name.namespace,
    name,
    object,
    old: live,
    deleteOptions: undefined,
  };
  if (creates) prepareNew(reader, request);
  return { entry, live, request };
}

/** Who creates by an update or apply needs the right to create. */
function checkMayCreate({ context: { cluster, user }, type, name }: Write): void {
  const question = {
    kind: 'resource',
    verb: 'create',
    group: type.group,
    version: type.version,
    resource: type.plural,
    subresource: '',
    namespace: name.namespace,
    name: name.name,
  } as const;
  const { allowed, reason } = cluster.mayDo(user, question);
  if (!allowed) throw accessForbidden(user, question, reason);
}

function track({ context, type, subresource }: Write, live: KubeObject | undefined, object: KubeObject): KubeObject {
  return trackUpdate({
    type: trackedType(context.cluster.types, type, subresource),
    live,
    object,
    manager: context.fieldManager,
    now: timestamp(context.cluster.now()),
  });
}

/** The object is not the one that the client means. Told with the key that etcd would have it under. */
function otherUid(type: ResourceType, name: ObjectName, wanted: string, found: string): Error {
  const place = type.custom ? `${type.group}/${type.plural}` : (etcdPlaces[type.storage] ?? type.plural);
  const key = `/registry/${place}/${name.namespace ? `${name.namespace}/` : ''}${name.name}`;
  return conflict(
    subjectOf(type),
    name.name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`,
  );
}

const noSuchUid = (type: ResourceType, { name }: ObjectName, uid: string): Error =>
  conflict(
    subjectOf(type),
    name,
    `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
  );

const etcdPlaces: Readonly<Record<StorageType, string>> = {
  '/endpoints': 'services/endpoints',
  '/nodes': 'minions',
  '/services': 'services/specs',
  'networking.k8s.io/ingresses': 'ingress',
};

const versionForm = /^\d+$/;

function checkVersionForm(resourceVersion: string | undefined): void {
  if (resourceVersion && !versionForm.test(resourceVersion)) {
    throw badRequest(`strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
  }
}

/** The preconditions that an object carries in its own metadata. */
function checkAgainst({ type, name, patch }: Write, { metadata }: KubeObject, entry: Entry): void {
  const subject = subjectOf(type);
  if (!patch && metadata.uid && metadata.uid !== entry.uid) throw otherUid(type, name, metadata.uid, entry.uid);
  const { resourceVersion } = metadata;
  if (resourceVersion && resourceVersion !== '0') {
    checkVersionForm(resourceVersion);
    if (Number(resourceVersion) !== entry.revision) throw objectModified(subject, name.name);
  } else if (!patch && needsResourceVersion(type)) {
    throw invalid({ group: type.group, kind: type.plural }, name.name, [
      {
        type: 'FieldValueInvalid',
        field: 'metadata.resourceVersion',
        message: 'Invalid value: 0: must be specified for an update',
      },
    ]);
  }
}

/** The type's own preparation and validation. */
function prepare(options: Write, { live, request }: Draft): void {
  const { context, type } = options;
  const { strategy } = type;
  const object = objectOf(request);
  if (!live) {
    strategy.prepareCreate?.(object, context);
    refuseInvalid(type, object, strategy.validate?.(object) ?? []);
  } else {
    keepSystemFields(object, live);
    const subresource = options.subresource === '' ? undefined : type.subresources[options.subresource];
    const way = subresource?.kind === 'status' ? subresource : undefined;
    (way?.prepareUpdate ?? strategy.prepareUpdate)?.(object, live, context);
    // What is wanted does not change with the status, even where annotations count as wanted.
    if (strategy.generation !== false && options.subresource !== 'status') {
      setGeneration(strategy.generation, object, live);
    }
    const check = way?.validateUpdate ?? strategy.validateUpdate ?? strategy.validate;
    // The server looks at the metadata before the type does, which looks at it again: its refusals name a field twice.
    refuseInvalid(type, object, [...validateMetadataUpdate(object, live), ...(check?.(object, live) ?? [])]);
  }
  for (const warning of strategy.warnings?.(object) ?? []) context.warn(warning);
}

function objectOf({ object }: AdmissionRequest): KubeObject {
  if (!object) throw new Error('an admission plugin took the object away');
  return object;
}

function refuseInvalid(type: ResourceType, { metadata }: KubeObject, errors: Parameters<typeof invalid>[2]): void {
  if (errors.length > 0) throw invalid(type, metadata.name ?? '', errors);
}

/** What a client may leave out and not change. */
function keepSystemFields({ metadata }: KubeObject, { metadata: live }: KubeObject): void {
  metadata.uid ||= live.uid ?? '';
  if (live.creationTimestamp !== undefined) metadata.creationTimestamp = live.creationTimestamp;
  if (live.deletionTimestamp !== undefined) metadata.deletionTimestamp ??= live.deletionTimestamp;
  if (live.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= live.deletionGracePeriodSeconds;
  }
  if (live.generation === undefined) delete metadata.generation;
  else metadata.generation = live.generation;
  delete metadata.selfLink;
  if (live.resourceVersion !== undefined) metadata.resourceVersion = live.resourceVersion;
  if (live.namespace !== undefined) metadata.namespace ??= live.namespace;
}

const notDesired = new Set(['apiVersion', 'kind', 'metadata', 'status']);

function setGeneration(
  grows: ((object: KubeObject, live: KubeObject) => boolean) | undefined,
  object: KubeObject,
  live: KubeObject,
): void {
  const changed = grows ? grows(object, live) : desiredDiffers(object, live);
  if (changed) object.metadata.generation = (live.metadata.generation ?? 0) + 1;
}

function desiredDiffers(object: KubeObject, live: KubeObject): boolean {
  const members = new Set([...Object.keys(object), ...Object.keys(live)]);
  for (const member of members) {
    if (!notDesired.has(member) && !isDeepStrictEqual(object[member], live[member])) return true;
  }
  return false;
}

/** Stores the object, or finds that there is nothing to store, or that it has nothing left to wait for and goes. */
function finish(
  transaction: Transaction,
  { context, type }: Write,
  { entry, live, request }: Draft,
  plugins: readonly AdmissionPlugin[],
): Written {
  let object = objectOf(request);
  if (live && entry) {
    object = keepTimesOfNoChange(live, object);
    if (equalJson(object as never, live as never)) return { entry, created: false };
    if (removesOnUpdate(type, object, live)) {
      if (!context.dryRun) transaction.delete(entry);
      return { entry: previewEntry(type, object, entry), created: false };
    }
  }
  const { name = '', namespace = '' } = object.metadata;
  if (!entry && transaction.get(type.storage, namespace, name)) throw alreadyExists(subjectOf(type), name);
  for (const plugin of plugins) plugin.account?.(request, transaction);
  if (context.dryRun) return { entry: previewEntry(type, object, entry), created: !live };
  const fields = type.strategy.fields?.(object);
  return { entry: transaction.put(type.storage, storedObject(type, object), { fields }), created: !live };
}
