// What most types of Microsoft.Compute have in common.
import type { ResourceType } from '../kernel/provider.ts';
import { joinRights } from '../network/linked-rights.ts';
import { machineVersions } from './api-versions.ts';

const name = {
  form: /^[a-z0-9_]([a-z0-9_.-]{0,78}[a-z0-9_])?$/i,
  rule: 'The name can have up to 80 letters, digits, dots, hyphens and underscores; it begins with a letter, a digit or an underscore and does not end with a dot or hyphen.',
};

export const baseType = {
  apiVersions: machineVersions,
  scope: 'resourceGroup',
  location: 'required',
  name,
  patch: 'merge',
  linkedAccess: joinRights,
} as const satisfies Omit<ResourceType, 'type'>;

/** Written asynchronously. */
export const slowType = {
  ...baseType,
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
} as const satisfies Omit<ResourceType, 'type'>;
