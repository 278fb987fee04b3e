// Who may do what in the directory: people as members and administrators, applications by the permissions granted to them, and both
// as owners.
import type { Bearer } from '../entra/bearer.ts';
import type { DirectoryObject } from '../entra/directory-objects.ts';
import { globalAdministrator } from '../entra/seed.ts';
import { denied } from './graph-error.ts';

export type Area = 'applications' | 'groups' | 'users';

/** Directory roles that administer an area, by template id. */
const administrators: Readonly<Record<Area, readonly string[]>> = {
  // Application Administrator, Cloud Application Administrator
  applications: [globalAdministrator, '9b895d92-2cd3-44c7-9d02-a6ac2d5ea5c3', '158c047a-c907-4556-b7ef-446551a6b5f7'],
  // Groups Administrator, User Administrator
  groups: [globalAdministrator, 'fdd7a751-b60b-444a-984c-02652fe8fa1c', 'fe930be7-5e62-47db-91af-98c3a49a38b1'],
  // User Administrator
  users: [globalAdministrator, 'fe930be7-5e62-47db-91af-98c3a49a38b1'],
};

const writers: Readonly<Record<Area, readonly string[]>> = {
  applications: ['Application.ReadWrite.All', 'Directory.ReadWrite.All'],
  groups: ['Group.ReadWrite.All', 'Directory.ReadWrite.All'],
  users: ['User.ReadWrite.All', 'Directory.ReadWrite.All'],
};

const readers: Readonly<Record<Area, readonly string[]>> = {
  applications: [
    ...writers.applications,
    'Application.Read.All',
    'Directory.Read.All',
    'Application.ReadWrite.OwnedBy',
  ],
  groups: [...writers.groups, 'Group.Read.All', 'GroupMember.Read.All', 'Directory.Read.All'],
  users: [...writers.users, 'User.Read.All', 'User.ReadBasic.All', 'Directory.Read.All'],
};

const some = (have: readonly string[], wanted: readonly string[]): boolean => have.some((one) => wanted.includes(one));

/** People read their directory; an application reads itself, and the rest with a permission. Throws 403. */
export function demandRead(bearer: Bearer, area: Area, object?: DirectoryObject): void {
  if (bearer.kind === 'User' || some(bearer.roles, readers[area])) return;
  if (object && (object.id === bearer.objectId || ('appId' in object && object.appId === bearer.appId))) return;
  throw denied();
}

/** Administrators and applications with the permission. */
export function mayWrite(bearer: Bearer, area: Area): boolean {
  return some(bearer.directoryRoles, administrators[area]) || some(bearer.roles, writers[area]);
}

/** Throws 403 unless the caller administers the area or owns the object. */
export function demandWrite(bearer: Bearer, area: Area, object?: DirectoryObject): void {
  if (mayWrite(bearer, area)) return;
  const owners = object && 'owners' in object ? object.owners : [];
  const asOwner = bearer.kind === 'User' || bearer.roles.includes('Application.ReadWrite.OwnedBy');
  if (asOwner && owners.includes(bearer.objectId)) return;
  throw denied();
}

/** People may register applications and make groups, which they own from then on. */
export function demandCreate(bearer: Bearer, area: Area): void {
  if (area !== 'users' && bearer.kind === 'User') return;
  if (area === 'applications' && bearer.roles.includes('Application.ReadWrite.OwnedBy')) return;
  if (!mayWrite(bearer, area)) throw denied();
}
