// Pod templates.
import { declare } from '../declare.ts';

export const podTemplates = declare('', { kind: 'PodTemplate', plural: 'podtemplates', namespaced: true });
