// Service accounts.
import { action, declare } from '../declare.ts';

export const serviceAccounts = declare('', {
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  namespaced: true,
  subresources: { token: action(['create'], 'TokenRequest', 'authentication.k8s.io') },
  strategy: { generation: false },
});
