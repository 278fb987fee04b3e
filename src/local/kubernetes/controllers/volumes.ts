// Claims and volumes find each other; a class makes volumes for claims that find none.
import { parseQuantity } from '../schema/quantity.ts';
import { selects } from '../types/selectors.ts';
import { type Controller, itself, type Key } from './controller.ts';
import { copyOf, type Hands, isAlreadyExists, type Reader } from './hands.ts';
import { claims, pods, storageClasses, volumes } from './kinds.ts';
import { isFinished } from './pods.ts';
import type { ClaimObject, VolumeObject } from './shapes.ts';

const claimProtection = 'kubernetes.io/pvc-protection';
const volumeProtection = 'kubernetes.io/pv-protection';
const boundByController = 'pv.kubernetes.io/bound-by-controller';
const bindCompleted = 'pv.kubernetes.io/bind-completed';
const provisionedBy = 'pv.kubernetes.io/provisioned-by';

const keyOf = ({ metadata }: ClaimObject): Key => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' });

/** Claims that pods in use name. */
function users(reader: Reader, { namespace, name }: Key): { readonly used: boolean; readonly scheduled: boolean } {
  let used = false;
  let scheduled = false;
  for (const entry of reader.entries(pods, namespace)) {
    if (!entry.bytes.includes('"persistentVolumeClaim"')) continue;
    const pod = reader.read(pods, entry);
    if (!pod.spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name)) continue;
    if (isFinished(pod)) continue;
    used = true;
    scheduled ||= Boolean(pod.spec.nodeName);
  }
  return { used, scheduled };
}

const size = (text: string | undefined): bigint => parseQuantity(text ?? '0').nanos;

/** The smallest volume that is free and fits. */
function freeVolume(hands: Hands, { metadata, spec }: ClaimObject): VolumeObject | undefined {
  const asked = size(spec.resources?.requests?.storage);
  return hands
    .list(volumes)
    .filter((volume) => {
      const { claimRef } = volume.spec;
      if (spec.volumeName && volume.metadata.name !== spec.volumeName) return false;
      if (claimRef && (claimRef.namespace !== metadata.namespace || claimRef.name !== metadata.name)) return false;
      if (claimRef?.uid && claimRef.uid !== metadata.uid) return false;
      if (volume.metadata.deletionTimestamp || volume.status?.phase === 'Released' || volume.status?.phase === 'Failed')
        return false;
      if ((volume.spec.storageClassName ?? '') !== (spec.storageClassName ?? '') && !spec.volumeName) return false;
      if ((volume.spec.volumeMode ?? 'Filesystem') !== (spec.volumeMode ?? 'Filesystem')) return false;
      if (!(spec.accessModes ?? []).every((mode) => volume.spec.accessModes?.includes(mode))) return false;
      if (spec.selector && !selects(spec.selector, volume.metadata.labels)) return false;
      return size(volume.spec.capacity?.storage) >= asked;
    })
    .sort((one, other) => (size(one.spec.capacity?.storage) < size(other.spec.capacity?.storage) ? -1 : 1))[0];
}

const referenceTo = ({ metadata }: ClaimObject) => ({
  kind: 'PersistentVolumeClaim',
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  apiVersion: 'v1',
  resourceVersion: metadata.resourceVersion ?? '',
});

async function setPhase(hands: Hands, volume: VolumeObject, phase: string): Promise<VolumeObject> {
  if (volume.status?.phase === phase) return volume;
  return hands.setStatus(volumes, volume, { ...volume.status, phase, lastPhaseTransitionTime: hands.timestamp() });
}

async function bind(hands: Hands, claim: ClaimObject, volume: VolumeObject): Promise<void> {
  let taken = volume;
  if (volume.spec.claimRef?.uid !== claim.metadata.uid) {
    const changed = copyOf(volume);
    changed.spec.claimRef = referenceTo(claim);
    changed.metadata.annotations = { ...volume.metadata.annotations, [boundByController]: 'yes' };
    taken = await hands.update(volumes, changed);
  }
  taken = await setPhase(hands, taken, 'Bound');
  let current = claim;
  if (claim.spec.volumeName !== taken.metadata.name || !claim.metadata.annotations?.[bindCompleted]) {
    const changed = copyOf(claim);
    if (!claim.spec.volumeName)
      changed.metadata.annotations = { ...changed.metadata.annotations, [boundByController]: 'yes' };
    changed.metadata.annotations = { ...changed.metadata.annotations, [bindCompleted]: 'yes' };
    changed.spec.volumeName = taken.metadata.name ?? '';
    current = await hands.update(claims, changed);
  }
  await hands.setStatus(claims, current, {
    ...current.status,
    phase: 'Bound',
    ...(taken.spec.accessModes ? { accessModes: taken.spec.accessModes } : {}),
    ...(taken.spec.capacity ? { capacity: taken.spec.capacity } : {}),
  });
}

/** Makes a volume as the class's provisioner would. */
async function provision(hands: Hands, claim: ClaimObject): Promise<VolumeObject | undefined> {
  const { storageClassName = '', accessModes, volumeMode, resources } = claim.spec;
  const storageClass = hands.get(storageClasses, '', storageClassName);
  if (!storageClass) {
    const message = storageClassName
      ? `storageclass.storage.k8s.io "${storageClassName}" not found`
      : 'no persistent volumes available for this claim and no storage class is set';
    await hands.event(
      claim,
      storageClassName ? 'Warning' : 'Normal',
      storageClassName ? 'ProvisioningFailed' : 'FailedBinding',
      message,
    );
    return undefined;
  }
  const { provisioner, reclaimPolicy = 'Delete', volumeBindingMode } = storageClass;
  if (provisioner === 'kubernetes.io/no-provisioner') return undefined;
  if (volumeBindingMode === 'WaitForFirstConsumer' && !users(hands, keyOf(claim)).scheduled) {
    await hands.event(
      claim,
      'Normal',
      'WaitForFirstConsumer',
      'waiting for first consumer to be created before binding',
    );
    return undefined;
  }
  const name = `pvc-${claim.metadata.uid}`;
  try {
    const made = await hands.create(volumes, '', {
      metadata: { name, annotations: { [provisionedBy]: provisioner } },
      spec: {
        capacity: { storage: resources?.requests?.storage ?? '1Gi' },
        accessModes: accessModes ?? ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: reclaimPolicy,
        storageClassName,
        volumeMode: volumeMode ?? 'Filesystem',
        claimRef: referenceTo(claim),
        csi: { driver: provisioner, volumeHandle: name },
      },
    });
    await hands.event(claim, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${name}`);
    return made;
  } catch (error) {
    if (isAlreadyExists(error)) return hands.get(volumes, '', name);
    throw error;
  }
}

const without = (finalizers: readonly string[] | undefined, name: string): string[] =>
  (finalizers ?? []).filter((each) => each !== name);

export const claimBinder: Controller = {
  name: 'persistent-volume-binder',
  source: 'persistentvolume-controller',
  triggers: {
    [claims.type.storage]: itself,
    [volumes.type.storage]: ({ entry }, reader) => {
      const { claimRef } = reader.read(volumes, entry).spec;
      if (claimRef) return [{ namespace: claimRef.namespace ?? '', name: claimRef.name ?? '' }];
      return reader
        .list(claims)
        .filter(({ status }) => status?.phase !== 'Bound')
        .map(keyOf);
    },
    [storageClasses.type.storage]: (_change, reader) =>
      reader
        .list(claims)
        .filter(({ status }) => status?.phase !== 'Bound')
        .map(keyOf),
    [pods.type.storage]: ({ entry, kind, before }, reader) => {
      if (!entry.bytes.includes('"persistentVolumeClaim"')) return [];
      const moved = before?.fields?.['spec.nodeName'] !== entry.fields?.['spec.nodeName'];
      const ended = before?.fields?.['status.phase'] !== entry.fields?.['status.phase'];
      if (kind === 'MODIFIED' && !moved && !ended) return [];
      return (reader.read(pods, entry).spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
        persistentVolumeClaim ? [{ namespace: entry.namespace, name: persistentVolumeClaim.claimName }] : [],
      );
    },
  },
  async reconcile(hands, { namespace, name }) {
    const claim = hands.get(claims, namespace, name);
    if (!claim) return undefined;
    if (claim.metadata.deletionTimestamp) {
      if (claim.metadata.finalizers?.includes(claimProtection) && !users(hands, { namespace, name }).used) {
        const freed = copyOf(claim);
        freed.metadata.finalizers = without(claim.metadata.finalizers, claimProtection);
        await hands.update(claims, freed);
      }
      return undefined;
    }
    if (claim.spec.volumeName && claim.status?.phase === 'Bound') {
      const lost = !hands.get(volumes, '', claim.spec.volumeName);
      if (lost) {
        await hands.setStatus(claims, claim, { ...claim.status, phase: 'Lost' });
        await hands.event(
          claim,
          'Warning',
          'ClaimLost',
          'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
        );
      }
      return undefined;
    }
    const volume = freeVolume(hands, claim) ?? (claim.spec.volumeName ? undefined : await provision(hands, claim));
    if (volume) await bind(hands, claim, volume);
    return undefined;
  },
};

export const volumeReclaimer: Controller = {
  name: 'pv-protection-controller',
  triggers: {
    [volumes.type.storage]: itself,
    [claims.type.storage]: ({ kind, entry }, reader) => {
      const { volumeName } = reader.read(claims, entry).spec;
      return kind === 'DELETED' && volumeName ? [{ namespace: '', name: volumeName }] : [];
    },
  },
  async reconcile(hands, { name }) {
    const volume = hands.get(volumes, '', name);
    if (!volume) return undefined;
    const { claimRef, persistentVolumeReclaimPolicy } = volume.spec;
    const claim = claimRef ? hands.get(claims, claimRef.namespace ?? '', claimRef.name ?? '') : undefined;
    const bound = claim !== undefined && claim.metadata.uid === claimRef?.uid;
    if (volume.metadata.deletionTimestamp) {
      if (!bound && volume.metadata.finalizers?.includes(volumeProtection)) {
        const freed = copyOf(volume);
        freed.metadata.finalizers = without(volume.metadata.finalizers, volumeProtection);
        await hands.update(volumes, freed);
      }
      return undefined;
    }
    if (!claimRef) await setPhase(hands, volume, 'Available');
    else if (claimRef.uid && !bound) {
      const released = await setPhase(hands, volume, 'Released');
      if (persistentVolumeReclaimPolicy === 'Delete') await hands.remove(volumes, released);
    } else if (!claimRef.uid) await setPhase(hands, volume, 'Available');
    return undefined;
  },
};
