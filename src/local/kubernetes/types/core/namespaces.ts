// Namespaces: removed by their controller once empty, so finalizers in the spec.
import { declare, everyVerb, status } from '../declare.ts';

export const namespaces = declare('', {
  kind: 'Namespace',
  plural: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  verbs: everyVerb.filter((verb) => verb !== 'deletecollection'),
  subresources: { finalize: { kind: 'status', verbs: ['update'] }, status },
  strategy: { generation: false },
});
