// Replication controllers, the older replica sets.
import type { KubeObject } from '../../object.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../schema/field-errors.ts';
import type { FieldError } from '../../status.ts';
import { declare, scale } from '../declare.ts';
import { nonNegative } from '../numbers.ts';
import { podSpecDefaults } from '../pod/pod-defaults.ts';
import type { PodTemplate } from '../pod/pod-spec.ts';
import { validatePodTemplate } from '../pod/validate-pod.ts';
import { selects } from '../selectors.ts';
import { ownStatus, status } from '../status.ts';

interface Spec {
  replicas?: number;
  minReadySeconds?: number;
  selector?: Record<string, string>;
  template?: PodTemplate;
}

const specOf = (object: KubeObject): Spec => object.spec as Spec;

function validate(object: KubeObject): FieldError[] {
  const { replicas, minReadySeconds, selector = {}, template } = specOf(object);
  const found = nonNegative('spec.minReadySeconds', minReadySeconds);
  const selecting = Object.keys(selector).length > 0;
  if (!selecting) found.push(required('spec.selector'));
  found.push(...nonNegative('spec.replicas', replicas));
  if (!template) return [...found, required('spec.template')];
  if (selecting && !selects({ matchLabels: selector }, template.metadata.labels)) {
    found.push(
      invalidValue(
        'spec.template.metadata.labels',
        template.metadata.labels,
        '`selector` does not match template `labels`',
      ),
    );
  }
  found.push(...validatePodTemplate(template, 'spec.template'));
  if (template.spec.restartPolicy !== 'Always') {
    found.push(notSupported('spec.template.spec.restartPolicy', template.spec.restartPolicy, ['Always']));
  }
  if (template.spec.activeDeadlineSeconds !== undefined) {
    found.push(
      forbiddenField(
        'spec.template.spec.activeDeadlineSeconds',
        'activeDeadlineSeconds in ReplicationController is not Supported',
      ),
    );
  }
  return found;
}

export const replicationControllers = declare('', {
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  subresources: { scale, status },
  strategy: {
    ...ownStatus,
    defaults(object) {
      const spec = specOf(object);
      spec.replicas ??= 1;
      const labels = spec.template?.metadata.labels;
      if (labels) {
        if (!spec.selector) spec.selector = { ...labels };
        if (!object.metadata.labels) object.metadata.labels = { ...labels };
      }
      if (spec.template) podSpecDefaults(spec.template.spec);
    },
    validate,
    fields: (object) => ({
      'status.replicas': String((object.status as { replicas?: number } | undefined)?.replicas ?? 0),
    }),
  },
});
