// Pod templates, kept for their own sake.
import type { KubeObject } from '../../object.ts';
import { declare } from '../declare.ts';
import { podSpecDefaults } from '../pod/pod-defaults.ts';
import type { PodTemplate } from '../pod/pod-spec.ts';
import { validatePodTemplate } from '../pod/validate-pod.ts';

const templateOf = (object: KubeObject): PodTemplate => object.template as PodTemplate;

export const podTemplates = declare('', {
  kind: 'PodTemplate',
  plural: 'podtemplates',
  namespaced: true,
  strategy: {
    defaults: (object) => podSpecDefaults(templateOf(object).spec),
    validate: (object) => validatePodTemplate(templateOf(object), 'template'),
  },
});
