// Resource quotas.
import { declare, status } from '../declare.ts';

export const resourceQuotas = declare('', {
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  shortNames: ['quota'],
  namespaced: true,
  subresources: { status },
  strategy: { generation: false },
});
