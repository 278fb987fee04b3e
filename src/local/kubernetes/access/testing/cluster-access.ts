// A cluster's access for tests: objects in memory with the default roles among them, a clock that tests set.
import { randomBytes, randomUUID } from 'node:crypto';
import { Secret } from '../../../../kit/secret.ts';
import { createAuthority } from '../../../../pki/authority.ts';
import type { KeyedCertificate } from '../../../../pki/certificate.ts';
import type { JsonObject, KubeObject } from '../../object.ts';
import type { Entry, Objects } from '../../objects/objects.ts';
import { openObjects } from '../../objects/open.ts';
import { type Access, type AccessOptions, createAccess } from '../access.ts';
import { defaultRbacEntries, rbacGroup } from '../default-rbac.ts';
import { sharedDefaults, withSharedDefaults } from '../defaults-overlay.ts';
import type { AccessQuestion, User } from '../user.ts';

export interface TestCluster {
  readonly objects: Objects;
  readonly access: Access;
  readonly clock: { now: number };
  authority(): Promise<KeyedCertificate>;
  /** Stores an object as it is, with a uid. */
  put(type: string, object: JsonObject): Promise<Entry>;
}

const defaults = sharedDefaults(defaultRbacEntries('2026-01-01T00:00:00Z'));

/** The host key of every test cluster, so that clusters differ by name only. */
const hostKey = new Secret(randomBytes(32));

export async function testCluster(name = 'c1', options: Partial<AccessOptions> = {}): Promise<TestCluster> {
  const host = await openObjects();
  const objects = withSharedDefaults(host.open(name), defaults);
  const clock = { now: Date.now() };
  let made: Promise<KeyedCertificate> | undefined;
  const authority = (): Promise<KeyedCertificate> => {
    made ??= createAuthority({ name: `ca of ${name}` });
    return made;
  };
  const access = createAccess({
    cluster: name,
    objects,
    ca: async () => (await authority()).certificatePem,
    hostKey,
    now: () => clock.now,
    ...options,
  });
  return {
    objects,
    access,
    clock,
    authority,
    put: (type, object) => put(objects, type, object),
  };
}

export function put(objects: Objects, type: string, object: JsonObject): Promise<Entry> {
  const whole = structuredClone(object) as unknown as KubeObject;
  whole.metadata.uid ??= randomUUID();
  return objects.commit((transaction) => transaction.put(type, whole));
}

export const person = (name: string, ...groups: string[]): User => ({
  name,
  groups: [...groups, 'system:authenticated'],
});

/** A question about a core resource, such as `ask('get', 'pods', { namespace: 'x' })`. */
export function ask(
  verb: string,
  resource: string,
  more: Partial<Extract<AccessQuestion, { kind: 'resource' }>> = {},
): AccessQuestion {
  return {
    kind: 'resource',
    verb,
    group: '',
    version: 'v1',
    resource,
    subresource: '',
    namespace: '',
    name: '',
    ...more,
  };
}

export const clusterRole = (name: string, content: JsonObject, labels: Record<string, string> = {}): JsonObject => ({
  apiVersion: `${rbacGroup}/v1`,
  kind: 'ClusterRole',
  metadata: { name, labels },
  ...content,
});

export function binding(name: string, role: string, subject: JsonObject, namespace?: string): JsonObject {
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
    subjects: [subject],
  };
}

export const user = (name: string): JsonObject => ({ kind: 'User', name, apiGroup: rbacGroup });
