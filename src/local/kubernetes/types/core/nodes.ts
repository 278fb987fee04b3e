// Nodes.
import { action, declare, status } from '../declare.ts';

export const nodes = declare('', {
  kind: 'Node',
  plural: 'nodes',
  shortNames: ['no'],
  namespaced: false,
  subresources: { proxy: action(['create', 'delete', 'get', 'patch', 'update'], 'NodeProxyOptions'), status },
  strategy: { generation: false },
});
