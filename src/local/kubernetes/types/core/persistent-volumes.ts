// Volumes.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../object.ts';
import { forbiddenField, invalidBy, keyed, notSupported, required } from '../../schema/field-errors.ts';
import { dns1123Subdomain } from '../../schema/names.ts';
import type { FieldError } from '../../status.ts';
import { declare } from '../declare.ts';
import { immutable } from '../metadata.ts';
import type { Resources } from '../pod/pod-spec.ts';
import { validateResourceQuantity } from '../pod/validate-resources.ts';
import { keepAllButStatus, keepStatus } from '../status.ts';
import { validateAccessModes, validateVolumeMode } from './volumes.ts';

interface Spec {
  accessModes?: string[];
  capacity?: Resources;
  persistentVolumeReclaimPolicy?: string;
  storageClassName?: string;
  volumeMode?: string;
  hostPath?: { path: string; type?: string };
  [member: string]: unknown;
}

interface Volume extends KubeObject {
  spec: Spec;
  status?: { phase?: string; lastPhaseTransitionTime?: string };
}

/** Members of the spec that are not the volume's source. */
const notSource = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);
const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];

const sourceOf = (spec: Spec): Record<string, unknown> =>
  Object.fromEntries(Object.entries(spec).filter(([member]) => !notSource.has(member)));

function validate(object: KubeObject): FieldError[] {
  const { spec } = object as Volume;
  const found: FieldError[] = [];
  if (!spec.accessModes?.length) found.push(required('spec.accessModes'));
  found.push(...validateAccessModes(spec.accessModes ?? [], 'spec.accessModes'));
  const capacity = Object.entries(spec.capacity ?? {});
  if (capacity.length === 0) found.push(required('spec.capacity'));
  if (capacity.length !== 1 || spec.capacity?.storage === undefined) {
    found.push(notSupported('spec.capacity', spec.capacity ?? null, ['storage']));
  }
  for (const [name, text] of capacity)
    found.push(...validateResourceQuantity(name, text, keyed('spec.capacity', name)));
  const policy = spec.persistentVolumeReclaimPolicy ?? '';
  if (policy && !reclaimPolicies.includes(policy)) {
    found.push(notSupported('spec.persistentVolumeReclaimPolicy', policy, reclaimPolicies));
  }
  const [first, ...others] = Object.keys(sourceOf(spec));
  if (!first) found.push(required('spec', 'must specify a volume type'));
  for (const other of others) found.push(forbiddenField(`spec.${other}`, 'may not specify more than 1 volume type'));
  if (spec.hostPath && !spec.hostPath.path) found.push(required('spec.hostPath.path'));
  if (spec.storageClassName) {
    found.push(...invalidBy('spec.storageClassName', spec.storageClassName, dns1123Subdomain(spec.storageClassName)));
  }
  return [...found, ...validateVolumeMode(spec.volumeMode, 'spec.volumeMode')];
}

const timestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

export const persistentVolumes = declare('', {
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  shortNames: ['pv'],
  namespaced: false,
  subresources: {
    status: {
      kind: 'status',
      prepareUpdate(object, old, context) {
        keepAllButStatus(object, old);
        const volume = object as Volume;
        const before = (old as Volume).status;
        if (!volume.status || volume.status.phase === before?.phase) return;
        volume.status.lastPhaseTransitionTime = timestamp(context.cluster.now());
      },
    },
  },
  strategy: {
    generation: false,
    defaults(object) {
      const { spec, status } = object as Volume;
      spec.persistentVolumeReclaimPolicy ||= 'Retain';
      spec.volumeMode ??= 'Filesystem';
      if (spec.hostPath) spec.hostPath.type ??= '';
      if (status) status.phase ||= 'Pending';
    },
    prepareCreate(object, context) {
      object.status = { phase: 'Pending', lastPhaseTransitionTime: timestamp(context.cluster.now()) };
    },
    prepareUpdate: keepStatus,
    validate,
    validateUpdate: (object, old) => {
      const { spec } = object as Volume;
      const { spec: before } = old as Volume;
      return [
        ...validate(object),
        ...(isDeepStrictEqual(sourceOf(spec), sourceOf(before))
          ? []
          : [forbiddenField('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation')]),
        ...immutable('volumeMode', spec.volumeMode, before.volumeMode),
      ];
    },
  },
});
