// Config maps: plain data.
import { declare } from '../declare.ts';

export const configMaps = declare('', {
  kind: 'ConfigMap',
  plural: 'configmaps',
  shortNames: ['cm'],
  namespaced: true,
  strategy: { generation: false },
});
