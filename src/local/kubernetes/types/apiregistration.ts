// API services: which server answers for a group and version.
import type { KubeObject } from '../object.ts';
import { invalidBy, invalidValue, required } from '../schema/field-errors.ts';
import { dns1035Label, dns1123Subdomain, pathSegmentName, portNumber } from '../schema/names.ts';
import type { FieldError } from '../status.ts';
import { declare } from './declare.ts';
import type { ResourceType } from './resource-type.ts';
import { keepAllButStatus, ownStatus } from './status.ts';

interface Spec {
  group?: string;
  version?: string;
  groupPriorityMinimum: number;
  versionPriority: number;
  service?: { namespace?: string; name?: string; port?: number };
  caBundle?: string;
  insecureSkipTLSVerify?: boolean;
}

const specOf = (object: KubeObject): Spec => object.spec as Spec;
const highestGroupPriority = 20_000;
const highestVersionPriority = 1000;

function validatePriority(field: string, value: number, highest: number): FieldError[] {
  return value <= 0 || value > highest ? [invalidValue(field, value, `must be positive and less than ${highest}`)] : [];
}

function validate(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const { group = '', version = '', service } = spec;
  const name = object.metadata.name ?? '';
  const wanted = `${version}.${group}`;
  const found: FieldError[] = [];
  if (name && name !== wanted && pathSegmentName(name, false).length === 0) {
    found.push(
      invalidValue('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`),
    );
  }
  if (!group && version !== 'v1') {
    found.push(required('spec.group', 'only v1 may have an empty group and it better be legacy kube'));
  }
  if (group) found.push(...invalidBy('spec.group', group, dns1123Subdomain(group)));
  found.push(...invalidBy('spec.version', version, dns1035Label(version)));
  found.push(...validatePriority('spec.groupPriorityMinimum', spec.groupPriorityMinimum, highestGroupPriority));
  found.push(...validatePriority('spec.versionPriority', spec.versionPriority, highestVersionPriority));
  if (!service) {
    if (spec.caBundle) {
      const bytes = Buffer.from(spec.caBundle, 'base64').length;
      found.push(invalidValue('spec.caBundle', `${bytes} bytes`, 'local APIServices may not have a caBundle'));
    }
    if (spec.insecureSkipTLSVerify) {
      found.push(
        invalidValue('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify'),
      );
    }
    return found;
  }
  if (!service.namespace) found.push(required('spec.service.namespace'));
  if (!service.name) found.push(required('spec.service.name'));
  const wrong = portNumber(service.port ?? 0);
  if (wrong.length > 0) {
    found.push(invalidValue('spec.service.port', service.port ?? 0, `port is not valid: ${wrong.join(', ')}`));
  }
  if (spec.insecureSkipTLSVerify && spec.caBundle) {
    found.push(invalidValue('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'));
  }
  return found;
}

export const apiRegistrationTypes: readonly ResourceType[] = [
  declare('apiregistration.k8s.io', {
    kind: 'APIService',
    plural: 'apiservices',
    categories: ['api-extensions'],
    namespaced: false,
    subresources: {
      status: {
        kind: 'status',
        prepareUpdate(object, old) {
          keepAllButStatus(object, old);
          for (const member of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
            if (old.metadata[member]) Object.assign(object.metadata, { [member]: old.metadata[member] });
            else delete object.metadata[member];
          }
        },
      },
    },
    strategy: {
      generation: false,
      nameRule: pathSegmentName,
      defaults(object) {
        const { service } = specOf(object);
        if (service) service.port ??= 443;
      },
      prepareCreate(object, context) {
        ownStatus.prepareCreate(object);
        if (specOf(object).service) return;
        object.status = {
          conditions: [
            {
              type: 'Available',
              status: 'True',
              lastTransitionTime: new Date(context.cluster.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
              reason: 'Local',
              message: 'Local APIServices are always available',
            },
          ],
        };
      },
      prepareUpdate: ownStatus.prepareUpdate,
      validate,
      fields: () => ({}),
    },
  }),
];
