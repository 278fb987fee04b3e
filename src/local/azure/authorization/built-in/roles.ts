// All built-in roles, by the GUID that names them.
import { dataRoles } from './data.ts';
import { generalRoles } from './general.ts';
import { kubernetesRoles } from './kubernetes.ts';
import { openShiftRoles } from './openshift.ts';
import type { RoleDefinition } from './role.ts';

export const builtInRoles: ReadonlyMap<string, RoleDefinition> = new Map(
  [...generalRoles, ...dataRoles, ...kubernetesRoles, ...openShiftRoles].map((role) => [role.name, role]),
);
