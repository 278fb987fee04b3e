// Services.
import { action, declare, status } from '../declare.ts';

export const services = declare('', {
  kind: 'Service',
  plural: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  subresources: { proxy: action(['create', 'delete', 'get', 'patch', 'update'], 'ServiceProxyOptions'), status },
  strategy: { generation: false },
});
