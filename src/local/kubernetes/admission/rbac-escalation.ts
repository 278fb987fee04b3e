// Writing roles and bindings is held against what the writer holds himself.
import type { Access } from '../access/access.ts';
import { rbacGroup } from '../access/default-rbac.ts';
import { checkEscalation } from '../access/escalation.ts';
import type { AdmissionPlugin } from '../registry/admission.ts';

/** Every change by a user passes it; the server's own controllers act as members of system:masters. */
export function escalationPlugin(access: Access): AdmissionPlugin {
  return {
    name: 'RBAC',
    waits: false,
    concerns: ({ operation, type, subresource }) =>
      type.group === rbacGroup && operation !== 'DELETE' && subresource === '',
    // Before the server fills in metadata: an update without uid or version is more than housekeeping, and is compared as it was sent.
    mutate({ context, type, namespace, object, old }) {
      if (!object) return;
      checkEscalation(access.authorizer, { user: context.user, resource: type.plural, namespace, object, old });
    },
  };
}
