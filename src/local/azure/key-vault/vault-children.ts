// What templates write into a vault through Resource Manager: access policies, secrets and keys.
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
import type { Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import type { VaultCall } from './call.ts';
import { keyRoutes } from './keys.ts';
import { openObjects } from './objects.ts';
import { secretRoutes } from './secrets.ts';
import { vaultOf } from './vault.ts';

const objectName = { form: /^[0-9a-zA-Z-]{1,127}$/, rule: 'Names have 1 to 127 letters, digits and hyphens.' };

export function vaultChildren(apiVersions: readonly string[]): readonly ResourceType[] {
  return [accessPolicies(apiVersions), secrets(apiVersions), keys(apiVersions)];
}

const policyKinds = ['add', 'replace', 'remove'];

/** `add`, `replace` and `remove` are the names; what they leave is in the vault. */
function accessPolicies(apiVersions: readonly string[]): ResourceType {
  return {
    type: 'vaults/accessPolicies',
    apiVersions,
    scope: 'resourceGroup',
    location: 'none',
    name: { form: /^(?:add|replace|remove)$/i, rule: `The name is one of: ${policyKinds.join(', ')}.` },
    provisioningState: false,
    schema: Type.Object({
      properties: Type.Object({
        accessPolicies: Type.Array(Type.Object({ objectId: Type.String(), permissions: Type.Object({}) }), {
          maxItems: 1024,
        }),
      }),
    }),
    async effect(world, { kind, id, record }) {
      if (kind === 'delete') return undefined;
      const policies = (record.resource.properties?.accessPolicies ?? []) as readonly JsonObject[];
      await world.resources.change(parentOf(id), (vault) => {
        const properties = vault.resource.properties ?? {};
        const before = (properties.accessPolicies ?? []) as readonly JsonObject[];
        const after = combined(foldCase(id.name), before, policies);
        return { ...vault, resource: { ...vault.resource, properties: { ...properties, accessPolicies: after } } };
      });
      return undefined;
    },
    async show(world, record) {
      const parsed = parseResourceId(record.resource.id);
      const vault = parsed.ok ? await world.resources.read(parentOf(parsed.id)) : undefined;
      const now = vault?.body.resource.properties?.accessPolicies ?? [];
      return { ...record.resource, properties: { accessPolicies: now } };
    },
  };
}

function parentOf({ text }: ResourceId): string {
  return text.split('/').slice(0, -2).join('/');
}

function keyOf({ objectId, applicationId }: JsonObject): string {
  return foldCase(`${String(objectId)}/${applicationId === null ? '' : String(applicationId ?? '')}`);
}

function combined(kind: string, before: readonly JsonObject[], given: readonly JsonObject[]): readonly JsonObject[] {
  const named = new Map(given.map((policy) => [keyOf(policy), policy]));
  if (kind === 'remove') {
    return before.flatMap((policy) => {
      const removed = named.get(keyOf(policy));
      if (removed === undefined) return [policy];
      const permissions = without(policy.permissions, removed.permissions);
      return Object.values(permissions).every((left) => Array.isArray(left) && left.length === 0)
        ? []
        : [{ ...policy, permissions }];
    });
  }
  const others = before.filter((policy) => !named.has(keyOf(policy)));
  if (kind === 'replace') return [...others, ...given];
  const merged = given.map((policy) => {
    const there = before.find((one) => keyOf(one) === keyOf(policy));
    return there === undefined
      ? policy
      : { ...there, ...policy, permissions: union(there.permissions, policy.permissions) };
  });
  return [...others, ...merged];
}

function union(one: Json | undefined, other: Json | undefined): JsonObject {
  const [a, b] = [objectOf(one), objectOf(other)];
  const kinds = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...kinds].map((kind) => [kind, [...new Set([...listOf(a[kind]), ...listOf(b[kind])])]]));
}

function without(one: Json | undefined, other: Json | undefined): JsonObject {
  const [a, b] = [objectOf(one), objectOf(other)];
  return Object.fromEntries(
    Object.entries(a).map(([kind, granted]) => {
      const gone = new Set(listOf(b[kind]).map((name) => foldCase(name)));
      return [kind, gone.has('all') ? [] : listOf(granted).filter((name) => !gone.has(foldCase(name)))];
    }),
  );
}

function objectOf(value: Json | undefined): JsonObject {
  return isRecord(value) ? (value as JsonObject) : {};
}

function listOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Secrets of templates: written with a value that is never shown; the vault itself has the versions. */
function secrets(apiVersions: readonly string[]): ResourceType {
  return {
    type: 'vaults/secrets',
    apiVersions,
    scope: 'resourceGroup',
    location: 'none',
    name: objectName,
    patch: 'merge',
    provisioningState: false,
    schema: Type.Object({
      properties: Type.Object({
        value: Type.Optional(Type.String({ maxLength: 25_600 })),
        contentType: Type.Optional(Type.String({ maxLength: 255 })),
      }),
    }),
    prepare({ body, current }: PrepareRequest): Prepared {
      const { value, ...properties } = objectOf(body.properties);
      if (value === undefined && current === undefined)
        throw new ArmError(400, 'BadRequest', 'Property value is required.');
      const tags = isRecord(body.tags) ? { tags: body.tags as { readonly [name: string]: string } } : {};
      return {
        resource: { ...tags, properties },
        ...(typeof value === 'string'
          ? { secrets: { value: new Secret(value) } }
          : current?.secrets === undefined
            ? {}
            : { secrets: current.secrets }),
      };
    },
    async effect(world, { kind, id, record }) {
      if (kind === 'delete') return undefined;
      const { contentType, attributes } = record.resource.properties ?? {};
      return writeObject(world, id, record, secretRoutes, 'PUT', 'secrets/{name}', {
        value: record.secrets?.value?.reveal() ?? '',
        ...(typeof contentType === 'string' ? { contentType } : {}),
        ...(isRecord(attributes) ? { attributes: attributes as JsonObject } : {}),
      });
    },
  };
}

function keys(apiVersions: readonly string[]): ResourceType {
  return {
    type: 'vaults/keys',
    apiVersions,
    scope: 'resourceGroup',
    location: 'none',
    name: objectName,
    provisioningState: false,
    schema: Type.Object({ properties: Type.Object({ kty: Type.Optional(Type.String()) }) }),
    async effect(world, { kind, id, record }) {
      // A key that is there stays as it is, as in Azure.
      if (kind !== 'create') return undefined;
      const { kty, keySize, curveName, keyOps } = record.resource.properties ?? {};
      return writeObject(world, id, record, keyRoutes, 'POST', 'keys/{name}/create', {
        kty: kty ?? 'RSA',
        ...(typeof keySize === 'number' ? { key_size: keySize } : {}),
        ...(typeof curveName === 'string' ? { crv: curveName } : {}),
        ...(Array.isArray(keyOps) ? { key_ops: keyOps } : {}),
      });
    },
  };
}

/** Does in the vault what a request of the data plane would do, and answers the properties that show where it is. */
async function writeObject(
  world: World,
  id: ResourceId,
  record: ResourceRecord,
  routes: typeof secretRoutes,
  method: string,
  path: string,
  body: JsonObject,
): Promise<JsonObject | undefined> {
  const vault = await world.resources.read(parentOf(id));
  const route = routes.find((one) => one.method === method && one.path === path);
  if (vault === undefined || route === undefined) return undefined;
  const { tags } = record.resource;
  const call: VaultCall = {
    world,
    objects: await openObjects(world),
    vault: vaultOf(world, vault.body),
    caller: { tenantId: world.directory.tenantId, objectId: '', kind: 'ServicePrincipal', groups: [] },
    apiVersion: '7.4',
    parameters: { name: id.name },
    query: {},
    body: { ...body, ...(tags === undefined ? {} : { tags: { ...tags } }) },
  };
  const { body: bundle } = await route.run(call);
  if (!isRecord(bundle)) return undefined;
  const kid = objectOf(bundle.key as Json | undefined).kid ?? bundle.id;
  const word = path.startsWith('keys') ? 'key' : 'secret';
  const url = String(kid);
  return {
    [`${word}UriWithVersion`]: url,
    [`${word}Uri`]: url.slice(0, url.lastIndexOf('/')),
    attributes: bundle.attributes as Json,
  };
}
