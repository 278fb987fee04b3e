// Application security groups: names that interfaces join and rules speak of.
import type { ResourceType } from '../kernel/provider.ts';
import { baseType, resourceGuid } from './base-type.ts';
import { inUseError } from './users.ts';

export const applicationSecurityGroups: ResourceType = {
  ...baseType,
  type: 'applicationSecurityGroups',
  prepare({ body: { properties: _, ...rest }, current }) {
    return { resource: { ...rest, properties: { resourceGuid: resourceGuid(current) } } };
  },
  inUse: inUseError(
    'InUseApplicationSecurityGroupCannotBeDeleted',
    'Application security group',
    'Remove it from these resources first.',
  ),
};
