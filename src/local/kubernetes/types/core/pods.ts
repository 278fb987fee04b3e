// Pods.
import { action, declare, status } from '../declare.ts';

export const pods = declare('', {
  kind: 'Pod',
  plural: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  subresources: {
    attach: action(['create', 'get'], 'PodAttachOptions'),
    binding: action(['create'], 'Binding'),
    ephemeralcontainers: { kind: 'status' },
    eviction: action(['create'], 'Eviction', 'policy'),
    exec: action(['create', 'get'], 'PodExecOptions'),
    log: action(['get'], 'Pod'),
    portforward: action(['create', 'get'], 'PodPortForwardOptions'),
    proxy: action(['create', 'delete', 'get', 'patch', 'update'], 'PodProxyOptions'),
    resize: { kind: 'status' },
    status,
  },
});
