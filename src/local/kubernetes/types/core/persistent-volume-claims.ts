// Claims to volumes.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../object.ts';
import { forbiddenField, invalidBy, invalidValue, required } from '../../schema/field-errors.ts';
import { dns1123Subdomain } from '../../schema/names.ts';
import { compareQuantities, parseQuantity } from '../../schema/quantity.ts';
import type { FieldError } from '../../status.ts';
import { declare } from '../declare.ts';
import { immutable } from '../metadata.ts';
import type { LabelSelector, Resources } from '../pod/pod-spec.ts';
import { validateSelector } from '../selectors.ts';
import { keepStatus, status } from '../status.ts';
import { validateAccessModes, validateVolumeMode } from './volumes.ts';

export interface ClaimSpec {
  accessModes?: string[];
  selector?: LabelSelector;
  resources: { requests?: Resources };
  storageClassName?: string;
  volumeMode?: string;
  volumeName?: string;
  volumeAttributesClassName?: string;
}

interface Claim extends KubeObject {
  spec: ClaimSpec;
  status?: { phase?: string };
}

export function validateClaimSpec(spec: ClaimSpec, field: string): FieldError[] {
  const found: FieldError[] = [];
  if (!spec.accessModes?.length) found.push(required(`${field}.accessModes`, 'at least 1 access mode is required'));
  found.push(...validateSelector(spec.selector, `${field}.selector`));
  found.push(...validateAccessModes(spec.accessModes ?? [], `${field}.accessModes`));
  const storage = spec.resources.requests?.storage;
  if (storage === undefined) found.push(required(`${field}.resources[storage]`));
  else if (parseQuantity(storage).nanos <= 0n) {
    found.push(invalidValue(`${field}.resources[storage]`, storage, 'must be greater than zero'));
  }
  if (spec.storageClassName) {
    found.push(
      ...invalidBy(`${field}.storageClassName`, spec.storageClassName, dns1123Subdomain(spec.storageClassName)),
    );
  }
  return [...found, ...validateVolumeMode(spec.volumeMode, `${field}.volumeMode`)];
}

/** A claim's spec but for what may change: the size, a volume bound to it, a class set later. */
function fixedPart(spec: ClaimSpec, old: ClaimSpec): Record<string, unknown> {
  const { resources, volumeName, storageClassName, volumeAttributesClassName: _, ...rest } = spec;
  const { requests: __, ...otherResources } = resources;
  return {
    ...rest,
    resources: otherResources,
    ...(old.volumeName ? { volumeName } : {}),
    ...(old.storageClassName !== undefined ? { storageClassName } : {}),
  };
}

function validateUpdate(object: KubeObject, oldObject: KubeObject): FieldError[] {
  const { spec } = object as Claim;
  const { spec: old, status: before } = oldObject as Claim;
  const found = validateClaimSpec(spec, 'spec');
  const bound = before?.phase === 'Bound';
  const sizeChanged = spec.resources.requests?.storage !== old.resources.requests?.storage;
  if (!isDeepStrictEqual(fixedPart(spec, old), fixedPart(old, old)) || (sizeChanged && !bound)) {
    found.push(
      forbiddenField(
        'spec',
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ),
    );
  } else if (sizeChanged) {
    const size = spec.resources.requests?.storage;
    const oldSize = old.resources.requests?.storage;
    if (
      size !== undefined &&
      oldSize !== undefined &&
      compareQuantities(parseQuantity(size), parseQuantity(oldSize)) < 0
    ) {
      found.push(forbiddenField('spec.resources.requests.storage', 'field can not be less than status.capacity'));
    }
  }
  return [...found, ...immutable('volumeMode', spec.volumeMode, old.volumeMode)];
}

export const persistentVolumeClaims = declare('', {
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  namespaced: true,
  subresources: { status },
  strategy: {
    generation: false,
    defaults(object) {
      const claim = object as Claim;
      claim.spec.volumeMode ??= 'Filesystem';
      if (claim.status) claim.status.phase ||= 'Pending';
    },
    prepareCreate(object) {
      object.status = { phase: 'Pending' };
    },
    prepareUpdate: keepStatus,
    validate: (object) => validateClaimSpec((object as Claim).spec, 'spec'),
    validateUpdate,
  },
});
