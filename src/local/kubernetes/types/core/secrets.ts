// Secrets: data whose keys depend on the type.
import { declare } from '../declare.ts';

export const secrets = declare('', {
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
  strategy: { generation: false },
});
