// Nobody grants what he does not hold: looks at every role and binding that is written.
import { rbacGroup } from '../access/default-rbac.ts';
import { checkEscalation } from '../access/escalation.ts';
import type { Authorizer } from '../access/rbac.ts';
import type { AdmissionPlugin } from './admission.ts';

export function escalationPlugin(authorizer: () => Authorizer): AdmissionPlugin {
  return {
    name: 'rbac',
    waits: false,
    concerns: ({ operation, type }) => type.group === rbacGroup && operation !== 'DELETE',
    validate({ context, type, namespace, object, old }) {
      if (object) {
        checkEscalation(authorizer(), { user: context.user, resource: type.plural, namespace, object, old });
      }
    },
  };
}
