// storage.k8s.io/v1.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../object.ts';
import { duplicate, forbiddenField, invalidBy, invalidValue, notSupported, required } from '../schema/field-errors.ts';
import { dns1123Subdomain, qualifiedName } from '../schema/names.ts';
import type { FieldError } from '../status.ts';
import { declare } from './declare.ts';
import { immutable } from './metadata.ts';
import type { ResourceType } from './resource-type.ts';
import { ownStatus, status } from './status.ts';

const group = 'storage.k8s.io';

interface StorageClass extends KubeObject {
  provisioner: string;
  parameters?: Record<string, string>;
  reclaimPolicy?: string;
  volumeBindingMode?: string;
}

const mostParameters = 512;
const bindingModes = ['Immediate', 'WaitForFirstConsumer'];
const reclaimPolicies = ['Delete', 'Retain'];

function validateParameters(parameters: Readonly<Record<string, string>>): FieldError[] {
  const found: FieldError[] = [];
  if (Object.keys(parameters).length > mostParameters) {
    found.push({
      type: 'FieldValueTooLong',
      field: 'parameters',
      message: `Too long: may not be more than ${mostParameters} bytes`,
    });
  }
  for (const [key] of Object.entries(parameters)) {
    if (key === '') found.push(invalidValue('parameters', key, 'field can not be empty.'));
  }
  return found;
}

/** A provisioner or attacher, whose case does not matter. */
function validateQualified(name: string, field: string): FieldError[] {
  if (!name) return [required(field)];
  return invalidBy(field, name, qualifiedName(name.toLowerCase()));
}

function validateClass(object: KubeObject): FieldError[] {
  const { provisioner, parameters = {}, reclaimPolicy, volumeBindingMode } = object as StorageClass;
  const found = [...validateQualified(provisioner, 'provisioner'), ...validateParameters(parameters)];
  if (reclaimPolicy !== undefined && !reclaimPolicies.includes(reclaimPolicy)) {
    found.push(notSupported('reclaimPolicy', reclaimPolicy, reclaimPolicies));
  }
  if (volumeBindingMode !== undefined && !bindingModes.includes(volumeBindingMode)) {
    found.push(notSupported('volumeBindingMode', volumeBindingMode, bindingModes));
  }
  return found;
}

function validateClassUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const found: FieldError[] = [];
  for (const member of ['parameters', 'provisioner', 'reclaimPolicy']) {
    if (!isDeepStrictEqual(object[member], old[member])) {
      found.push(forbiddenField(member, `updates to ${member} are forbidden.`));
    }
  }
  return [...found, ...immutable('volumeBindingMode', object.volumeBindingMode, old.volumeBindingMode)];
}

interface DriverSpec {
  attachRequired?: boolean;
  podInfoOnMount?: boolean;
  storageCapacity?: boolean;
  fsGroupPolicy?: string;
  volumeLifecycleModes?: string[];
  requiresRepublish?: boolean;
  seLinuxMount?: boolean;
}

const groupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType'];
const lifecycleModes = ['Persistent', 'Ephemeral'];

function validateDriver(object: KubeObject): FieldError[] {
  const spec = object.spec as DriverSpec;
  const found: FieldError[] = [];
  if (spec.fsGroupPolicy !== undefined && !groupPolicies.includes(spec.fsGroupPolicy)) {
    found.push(notSupported('spec.fsGroupPolicy', spec.fsGroupPolicy, groupPolicies));
  }
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (!lifecycleModes.includes(mode)) found.push(notSupported('spec.volumeLifecycleModes', mode, lifecycleModes));
  }
  return found;
}

interface NodeDriver {
  name: string;
  nodeID: string;
  topologyKeys: string[] | null;
}

function validateNode(object: KubeObject): FieldError[] {
  const names = new Set<string>();
  const drivers = (object.spec as { drivers: NodeDriver[] | null }).drivers ?? [];
  return drivers.flatMap(({ name, nodeID, topologyKeys }, index) => {
    const at = `spec.drivers[${index}]`;
    const found: FieldError[] = [];
    if (!name) found.push(required(`${at}.name`));
    found.push(...invalidBy(`${at}.name`, name, dns1123Subdomain(name.toLowerCase())));
    if (!nodeID) found.push(required(`${at}.nodeID`));
    if (names.has(name)) found.push(duplicate(`${at}.name`, name));
    names.add(name);
    for (const key of topologyKeys ?? []) {
      if (!key) found.push(required(at));
      found.push(...invalidBy(at, key, qualifiedName(key)));
    }
    return found;
  });
}

interface AttachmentSpec {
  attacher: string;
  nodeName: string;
  source: { persistentVolumeName?: string; inlineVolumeSpec?: object };
}

function validateAttachment(object: KubeObject): FieldError[] {
  const { attacher, nodeName, source } = object.spec as AttachmentSpec;
  const found = validateQualified(attacher, 'spec.attacher');
  const { inlineVolumeSpec, persistentVolumeName } = source;
  if (inlineVolumeSpec === undefined && persistentVolumeName === undefined) {
    found.push(required('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'));
  } else if (inlineVolumeSpec !== undefined && persistentVolumeName !== undefined) {
    found.push(forbiddenField('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'));
  } else if (persistentVolumeName === '') {
    found.push(required('spec.source.persistentVolumeName', 'must specify non empty persistentVolumeName'));
  }
  found.push(...invalidBy('spec.nodeName', nodeName, dns1123Subdomain(nodeName)));
  return [...found, ...invalidBy('spec.attacher', attacher, dns1123Subdomain(attacher.toLowerCase()))];
}

/** The spec of an attachment as the server shows it when it refuses a change. */
const shownAttachment = ({ attacher, nodeName, source }: AttachmentSpec): object => ({
  Attacher: attacher,
  Source: {
    PersistentVolumeName: source.persistentVolumeName ?? null,
    InlineVolumeSpec: source.inlineVolumeSpec ?? null,
  },
  NodeName: nodeName,
});

export const storageTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'CSIDriver',
    plural: 'csidrivers',
    namespaced: false,
    strategy: {
      generation: false,
      defaults(object) {
        const spec = object.spec as DriverSpec;
        spec.attachRequired ??= true;
        spec.podInfoOnMount ??= false;
        spec.storageCapacity ??= false;
        spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
        spec.volumeLifecycleModes ??= ['Persistent'];
        spec.requiresRepublish ??= false;
        spec.seLinuxMount ??= false;
      },
      validate: validateDriver,
      validateUpdate: (object, old) => [
        ...validateDriver(object),
        ...(['attachRequired', 'volumeLifecycleModes'] as const).flatMap((member) =>
          immutable(`spec.${member}`, (object.spec as DriverSpec)[member], (old.spec as DriverSpec)[member]),
        ),
      ],
    },
  }),
  declare(group, {
    kind: 'CSINode',
    plural: 'csinodes',
    namespaced: false,
    strategy: { generation: false, validate: validateNode },
  }),
  declare(group, {
    kind: 'CSIStorageCapacity',
    plural: 'csistoragecapacities',
    namespaced: true,
    strategy: {
      generation: false,
      validate: (object) =>
        invalidBy('storageClassName', object.storageClassName, dns1123Subdomain(String(object.storageClassName ?? ''))),
      validateUpdate: (object, old) => [
        ...immutable('nodeTopology', object.nodeTopology, old.nodeTopology),
        ...immutable('storageClassName', object.storageClassName, old.storageClassName),
      ],
    },
  }),
  declare(group, {
    kind: 'StorageClass',
    plural: 'storageclasses',
    shortNames: ['sc'],
    namespaced: false,
    strategy: {
      generation: false,
      defaults(object) {
        const storage = object as StorageClass;
        storage.reclaimPolicy ??= 'Delete';
        storage.volumeBindingMode ??= 'Immediate';
      },
      validate: validateClass,
      validateUpdate: validateClassUpdate,
    },
  }),
  declare(group, {
    kind: 'VolumeAttachment',
    plural: 'volumeattachments',
    namespaced: false,
    subresources: { status },
    strategy: {
      generation: false,
      ...ownStatus,
      validate: validateAttachment,
      validateUpdate: (object, old) =>
        isDeepStrictEqual(object.spec, old.spec)
          ? []
          : [invalidValue('spec', shownAttachment(object.spec as AttachmentSpec), 'field is immutable')],
    },
  }),
  declare(group, {
    kind: 'VolumeAttributesClass',
    plural: 'volumeattributesclasses',
    shortNames: ['vac'],
    namespaced: false,
    strategy: {
      generation: false,
      validate: (object) => [
        ...validateQualified(String(object.driverName ?? ''), 'driverName'),
        ...validateParameters((object.parameters ?? {}) as Record<string, string>),
      ],
      validateUpdate: (object, old) => [
        ...immutable('driverName', object.driverName, old.driverName),
        ...immutable('parameters', object.parameters, old.parameters),
      ],
    },
  }),
];
