// DNS zones, public and private, and the record sets in them.

import { createHash, randomUUID } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { RecordType } from '../kernel/network.ts';
import type {
  AlsoWrite,
  EffectEvent,
  Prepared,
  PrepareRequest,
  ProviderRoute,
  ResourceType,
} from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { privateDnsVersions, publicDnsVersions } from './api-versions.ts';
import { badRequest, checkedRecords, isDnsName, memberOf, type Spelling } from './dns-records.ts';
import { isGoing } from './going.ts';
import { parentId } from './references.ts';
import { withoutNulls } from './request-body.ts';
import { reservationsOf } from './reservations.ts';
import { textOf } from './text.ts';
import { referencesOf } from './users.ts';

/** What differs between public and private zones. */
export interface ZoneKind {
  readonly zoneType: 'dnsZones' | 'privateDnsZones';
  readonly apiVersions: readonly string[];
  readonly recordTypes: readonly RecordType[];
  readonly spell: Spelling;
  /** The pool that tells which zones have a name. */
  readonly pool: (name: string) => string;
  readonly maxRecordSets: number;
}

export const publicZones: ZoneKind = {
  zoneType: 'dnsZones',
  apiVersions: publicDnsVersions,
  recordTypes: ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'],
  spell: (member) => member,
  pool: (name) => `public zone ${name}`,
  maxRecordSets: 10_000,
};

export const privateZones: ZoneKind = {
  zoneType: 'privateDnsZones',
  apiVersions: privateDnsVersions,
  recordTypes: ['A', 'AAAA', 'CNAME', 'MX', 'PTR', 'SOA', 'SRV', 'TXT'],
  spell: (member) => member.replace(/^[A-Z]+(?=Record)|^TTL$/, (letters) => letters.toLowerCase()),
  pool: (name) => `private zone ${name}`,
  maxRecordSets: 25_000,
};

/** The names of the servers of a public zone: the same for the same zone, mostly others for another zone of its name. */
function nameServers(id: ResourceId): readonly string[] {
  const set = (createHash('sha256').update(id.key).digest()[0] ?? 0) % 90;
  const digits = textOf(set + 1).padStart(2, '0');
  return ['com', 'net', 'org', 'info'].map((end, at) => `ns${at + 1}-${digits}.azure-dns.${end}.`);
}

function prepareZone(kind: ZoneKind, { id, body, current }: PrepareRequest): Prepared {
  const { properties: _, ...rest } = body;
  const before = current?.resource.properties ?? {};
  const isPublic = kind === publicZones;
  const servers = (before.nameServers as readonly string[] | undefined) ?? (isPublic ? nameServers(id) : []);
  return {
    resource: {
      ...rest,
      properties: {
        maxNumberOfRecordSets: kind.maxRecordSets,
        ...(isPublic
          ? { nameServers: servers, zoneType: 'Public' }
          : {
              maxNumberOfVirtualNetworkLinks: 1000,
              maxNumberOfVirtualNetworkLinksWithRegistration: 100,
              internalId: before.internalId ?? randomUUID(),
            }),
      },
    },
    also: current === undefined ? firstRecords(kind, id, servers) : [],
  };
}

/** Every zone has a start of authority; public ones their servers as well. */
function firstRecords({ spell, zoneType }: ZoneKind, id: ResourceId, servers: readonly string[]): readonly AlsoWrite[] {
  const isPublic = zoneType === 'dnsZones';
  const soa: AlsoWrite = {
    kind: 'put',
    id: `${id.text}/SOA/@`,
    body: {
      properties: {
        [spell('TTL')]: 3600,
        [spell('SOARecord')]: {
          host: isPublic ? (servers[0] ?? '') : 'azureprivatedns.net',
          email: isPublic ? 'azuredns-hostmaster.microsoft.com' : 'azureprivatedns-host.microsoft.com',
          serialNumber: 1,
          refreshTime: 3600,
          retryTime: 300,
          expireTime: 2_419_200,
          [isPublic ? 'minimumTTL' : 'minimumTtl']: isPublic ? 300 : 10,
        },
      },
    },
  };
  const ns: AlsoWrite = {
    kind: 'put',
    id: `${id.text}/NS/@`,
    body: { properties: { TTL: 172_800, NSRecords: servers.map((nsdname) => ({ nsdname })) } },
  };
  return isPublic ? [soa, ns] : [soa];
}

async function showZone(kind: ZoneKind, world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const children = await world.resources.list({ parent: resource.id });
  const links = children.filter(({ type }) => type.endsWith('/virtualnetworklinks'));
  const registering = links.filter(({ resource: link }) => link.properties?.registrationEnabled === true);
  return {
    ...resource,
    properties: {
      ...resource.properties,
      numberOfRecordSets: children.length - links.length,
      ...(kind === publicZones
        ? {}
        : {
            numberOfVirtualNetworkLinks: links.length,
            numberOfVirtualNetworkLinksWithRegistration: registering.length,
          }),
    },
  };
}

async function zoneEffect(kind: ZoneKind, world: World, { kind: event, id }: EffectEvent): Promise<undefined> {
  const reservations = await reservationsOf(world.store);
  const pool = kind.pool(id.name.toLowerCase());
  if (event === 'delete') await reservations.release(pool, id.key);
  else await reservations.take(pool, id.key, id.key);
  return undefined;
}

/** A zone that networks are linked to stays. */
async function beforeZoneDelete(world: World, { resource }: ResourceRecord): Promise<void> {
  const links = await world.resources.list({ parent: resource.id, type: `${resource.type}/virtualNetworkLinks` });
  if (links.length === 0 || (await isGoing(world, resource.id))) return;
  const shown = links.slice(0, 10).map(({ resource: link }) => `'${link.type}/${resource.name}/${link.name}'`);
  throw new ArmError(
    409,
    'CannotDeleteResource',
    `Cannot delete resource while nested resources exist. Some existing nested resource IDs include: ${shown.join(', ')}. Please delete all ` +
      'nested resources before deleting this resource.',
  );
}

const maxTtl = 2_147_483_647;

async function prepareRecordSet(kind: ZoneKind, request: PrepareRequest): Promise<Prepared> {
  const { world, id, body, current, within } = request;
  const type = typeOf(id);
  const properties = (withoutNulls(body) as { readonly properties?: JsonObject }).properties ?? {};
  const ttl = memberOf(properties, 'TTL');
  const alias = memberOf(properties, 'targetResource') as JsonObject | undefined;
  if (ttl !== undefined && (typeof ttl !== 'number' || !Number.isInteger(ttl) || ttl < 1 || ttl > maxTtl))
    throw badRequest(`The TTL of the record set must be a whole number from 1 to ${maxTtl}.`);
  if (ttl === undefined && alias?.id === undefined && current === undefined)
    throw badRequest('The TTL of the record set is missing.');
  const zone = id.names[0] ?? '';
  if (id.name !== '@' && !isDnsName(`${id.name}.${zone}`))
    throw badRequest(`The name '${id.name.slice(0, 100)}' is not valid for a record set of zone '${zone}'.`);
  if (within === undefined) await checkCompanions(kind, world, id, type, current);
  if (type === 'SOA' && current === undefined && within === undefined)
    throw badRequest('Record sets of type SOA come with their zone and cannot be created.');
  const records = checkedRecords(type, properties, kind.spell);
  const kept: JsonObject = {
    ...(memberOf(properties, 'metadata') === undefined ? {} : { metadata: memberOf(properties, 'metadata') ?? {} }),
    fqdn: `${id.name === '@' ? '' : `${id.name}.`}${zone}.`,
    [kind.spell('TTL')]: ttl ?? 3600,
    ...(type === 'SOA' && current !== undefined ? soaOf(kind, current, records) : records),
    ...(kind === privateZones ? { isAutoRegistered: false } : { targetResource: alias ?? {} }),
  };
  return { resource: { properties: kept }, references: alias?.id === undefined ? {} : referencesOf(id, kept) };
}

/** Of a start of authority, host and serial number are the server's. */
function soaOf(kind: ZoneKind, current: ResourceRecord, records: JsonObject): JsonObject {
  const member = kind.spell('SOARecord');
  const before = memberOf(current.resource.properties ?? {}, member) as JsonObject | undefined;
  return { [member]: { ...before, ...(records[member] as JsonObject | undefined), host: before?.host ?? '' } };
}

function typeOf(id: ResourceId): RecordType {
  return (id.types.at(-1) ?? '').toUpperCase() as RecordType;
}

/** An alias stands alone at its name. */
async function checkCompanions(
  kind: ZoneKind,
  world: World,
  id: ResourceId,
  type: RecordType,
  current: ResourceRecord | undefined,
): Promise<void> {
  if (current !== undefined) return;
  if (type === 'CNAME' && id.name === '@')
    throw badRequest(`The record set of type 'CNAME' is not allowed at the apex of zone '${id.names[0]}'.`);
  const zone = parentId(id.text);
  const others = type === 'CNAME' ? kind.recordTypes.filter((one) => one !== 'CNAME') : (['CNAME'] as const);
  for (const other of others) {
    if ((await world.resources.read(`${zone}/${other}/${id.name}`)) === undefined) continue;
    throw badRequest(
      type === 'CNAME'
        ? `The record could not be created because a record of type '${other}' with the same name '${id.name}' already exists in this zone.`
        : 'The record could not be created because a CNAME record with the same name already exists in this zone.',
    );
  }
}

async function beforeRecordSetDelete(world: World, { resource, parent }: ResourceRecord): Promise<void> {
  const type = resource.type.split('/').at(-1) ?? '';
  if (
    resource.name !== '@' ||
    !['SOA', 'NS'].includes(type) ||
    (parent !== undefined && (await isGoing(world, parent)))
  )
    return;
  throw badRequest(`The record set of type '${type}' at the apex of the zone cannot be deleted.`);
}

/** The types of a kind of zones: the zone, and its record sets by their types. */
export function zoneTypes(kind: ZoneKind): readonly ResourceType[] {
  const isPublic = kind === publicZones;
  const common = { apiVersions: kind.apiVersions, scope: 'resourceGroup', etagMember: true } as const;
  return [
    {
      ...common,
      type: kind.zoneType,
      location: 'global',
      patch: 'tags',
      provisioningState: !isPublic,
      name: {
        form: /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)+$/i,
        rule: 'The name of a zone has at least two labels separated by dots, each of up to 63 letters, digits, hyphens and underscores.',
      },
      asynchrony: isPublic
        ? { create: 'none', update: 'none', delete: 'operation' }
        : { create: 'operation', update: 'operation', delete: 'operation' },
      prepare: (request) => prepareZone(kind, request),
      show: (world, record) => showZone(kind, world, record),
      effect: (world, event) => zoneEffect(kind, world, event),
      ...(isPublic ? {} : { beforeDelete: beforeZoneDelete }),
    },
    ...kind.recordTypes.map(
      (type): ResourceType => ({
        ...common,
        type: `${kind.zoneType}/${type}`,
        location: 'none',
        patch: 'merge',
        provisioningState: isPublic,
        prepare: (request) => prepareRecordSet(kind, request),
        beforeDelete: beforeRecordSetDelete,
      }),
    ),
  ];
}

/** Lists of record sets of all types. */
export function zoneRoutes(kind: ZoneKind): readonly ProviderRoute[] {
  return ['recordsets', 'all'].map((word) => ({
    method: 'GET',
    scope: 'resourceGroup',
    path: `${kind.zoneType}/{zone}/${word}`,
    apiVersions: kind.apiVersions,
    action: `Microsoft.Network/${kind.zoneType}/recordsets/read`,
    async run({ world, on, parameters, query, apiVersion }) {
      const parsed = parseResourceId(
        `${on?.text ?? ''}/providers/Microsoft.Network/${kind.zoneType}/${parameters.zone}`,
      );
      if (!parsed.ok) throw badRequest('The name of the zone is not valid.');
      await world.resources.show(parsed.id, apiVersion);
      const suffix = foldCase(query.$recordsetnamesuffix ?? '');
      const value: ArmResource[] = [];
      for (const record of await world.resources.list({ parent: parsed.id.key })) {
        if (record.type.endsWith('/virtualnetworklinks') || !foldCase(record.resource.name).endsWith(suffix)) continue;
        value.push(await world.resources.view(record, apiVersion));
      }
      return { value };
    },
  }));
}
