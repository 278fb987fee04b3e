// What most types of Microsoft.Network have in common.
import { randomUUID } from 'node:crypto';
import type { ResourceType } from '../kernel/provider.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import { networkVersions } from './api-versions.ts';
import { joinRights } from './linked-rights.ts';

const name = {
  form: /^[a-z0-9]([a-z0-9_.-]{0,78}[a-z0-9_])?$/i,
  rule:
    "The name can be up to 80 characters long. It must begin with a word character, and it must end with a word character or with '_'. " +
    "The name may contain word characters or '.', '-', '_'.",
};

/** A resource with a place, written asynchronously. */
export const baseType = {
  apiVersions: networkVersions,
  scope: 'resourceGroup',
  location: 'required',
  name,
  patch: 'tags',
  etagMember: true,
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
  linkedAccess: joinRights,
} as const satisfies Omit<ResourceType, 'type'>;

/** A child of one. */
export const baseChild = {
  apiVersions: networkVersions,
  scope: 'resourceGroup',
  location: 'none',
  name,
  etagMember: true,
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
  linkedAccess: joinRights,
} as const satisfies Omit<ResourceType, 'type'>;

/** The same as long as the resource lives. */
export function resourceGuid(current: ResourceRecord | undefined): string {
  const there = current?.resource.properties?.resourceGuid;
  return typeof there === 'string' ? there : randomUUID();
}
