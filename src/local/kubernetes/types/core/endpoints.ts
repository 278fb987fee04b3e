// Endpoints: the addresses behind a service.
import { declare } from '../declare.ts';

export const endpoints = declare('', {
  kind: 'Endpoints',
  plural: 'endpoints',
  shortNames: ['ep'],
  namespaced: true,
  strategy: { generation: false },
});
