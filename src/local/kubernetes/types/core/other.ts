// Kinds of core that are not kept: a binding is an order, component statuses name nothing here.
import { createOnly, declare } from '../declare.ts';

export const bindings = declare('', { kind: 'Binding', plural: 'bindings', namespaced: true, verbs: createOnly });

export const componentStatuses = declare('', {
  kind: 'ComponentStatus',
  plural: 'componentstatuses',
  shortNames: ['cs'],
  namespaced: false,
  verbs: ['get', 'list'],
  deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
});
