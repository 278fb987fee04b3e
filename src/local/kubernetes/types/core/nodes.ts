// Nodes.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../object.ts';
import { duplicate, forbiddenField, invalidBy, notSupported, required } from '../../schema/field-errors.ts';
import { labelValue, qualifiedName } from '../../schema/names.ts';
import type { FieldError } from '../../status.ts';
import { validateCidr } from '../addresses.ts';
import { action, declare } from '../declare.ts';
import type { Resources } from '../pod/pod-spec.ts';
import { taintEffects } from '../pod/validate-scheduling.ts';
import { keepStatus, status } from '../status.ts';

interface Node extends KubeObject {
  spec: {
    podCIDR?: string;
    podCIDRs?: string[];
    providerID?: string;
    unschedulable?: boolean;
    taints?: { key: string; value?: string; effect: string }[];
  };
  status: { capacity?: Resources; allocatable?: Resources };
}

function validate(object: KubeObject): FieldError[] {
  const { spec } = object as Node;
  const seen = new Set<string>();
  const found = (spec.taints ?? []).flatMap(({ key, value = '', effect }, index) => {
    const at = `metadata.taints[${index}]`;
    const wrong = invalidBy(`${at}.key`, key, qualifiedName(key));
    wrong.push(...invalidBy(`${at}.value`, value, labelValue(value)));
    if (!effect) wrong.push(required(`${at}.effect`));
    else if (!taintEffects.includes(effect)) wrong.push(notSupported(`${at}.effect`, effect, taintEffects));
    if (seen.has(`${key}:${effect}`))
      wrong.push(duplicate(at, { Key: key, Value: value, Effect: effect, TimeAdded: null }));
    seen.add(`${key}:${effect}`);
    return wrong;
  });
  return [...found, ...(spec.podCIDRs ?? []).flatMap((range, index) => validateCidr(`spec.podCIDRs[${index}]`, range))];
}

/** Ranges and the provider's id may be set once. */
function validateChange({ spec }: Node, { spec: old }: Node): FieldError[] {
  const found: FieldError[] = [];
  if (old.podCIDRs?.length && !isDeepStrictEqual(spec.podCIDRs, old.podCIDRs)) {
    found.push(forbiddenField('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
  }
  if (old.providerID && spec.providerID !== old.providerID) {
    found.push(forbiddenField('spec.providerID', 'node updates may not change providerID except from "" to valid'));
  }
  return found;
}

export const nodes = declare('', {
  kind: 'Node',
  plural: 'nodes',
  shortNames: ['no'],
  namespaced: false,
  subresources: {
    proxy: action(['create', 'delete', 'get', 'patch', 'update'], 'NodeProxyOptions'),
    status,
  },
  strategy: {
    generation: false,
    defaults(object) {
      const node = object as Node;
      if (node.spec.podCIDR && !node.spec.podCIDRs) node.spec.podCIDRs = [node.spec.podCIDR];
      else if (!node.spec.podCIDR && node.spec.podCIDRs?.[0]) node.spec.podCIDR = node.spec.podCIDRs[0];
      if (!node.status.allocatable && node.status.capacity) node.status.allocatable = { ...node.status.capacity };
    },
    // A node comes with its status: kubelets register themselves in one request.
    prepareUpdate: keepStatus,
    validate,
    validateUpdate: (object, old) => [...validate(object), ...validateChange(object as Node, old as Node)],
    fields: (object) => ({ 'spec.unschedulable': String((object as Node).spec.unschedulable ?? false) }),
  },
});
