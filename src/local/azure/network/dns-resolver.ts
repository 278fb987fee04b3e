// Names of the cloud's zones, resolved as the world would: from the topmost zone of ours down its delegations, through aliases and
// wildcards. Private zones answer for names that no public zone has.
import { foldCase } from '../../../arm/resource-id.ts';
import type { Store } from '../../../store/store.ts';
import type { DnsAnswer, RecordType } from '../kernel/network.ts';
import type { JsonObject } from '../kernel/record.ts';
import type { Resources } from '../kernel/resources.ts';
import { memberOf, recordData, ttlOf } from './dns-records.ts';
import { privateZones, publicZones, type ZoneKind } from './dns-zones.ts';
import { labelPool } from './public-ip-addresses.ts';
import { reservationsOf } from './reservations.ts';

export interface ResolverOptions {
  readonly store: Store;
  readonly resources: () => Pick<Resources, 'read'>;
}

/** Aliases that are followed before a name counts as a loop. */
const maxAliases = 10;

interface Zone {
  readonly id: string;
  readonly name: string;
  readonly kind: ZoneKind;
}

/** Undefined when no zone of ours covers the name; empty when it has no records of the type. */
export type Resolve = (name: string, type: RecordType) => Promise<readonly DnsAnswer[] | undefined>;

export function createResolver({ store, resources }: ResolverOptions): Resolve {
  const zonesNamed = async (kind: ZoneKind, name: string): Promise<readonly Zone[]> => {
    const ids = [...(await (await reservationsOf(store)).taken(kind.pool(name))).keys()];
    return ids.map((id) => ({ id, name, kind }));
  };
  const recordSet = async (zone: Zone, type: RecordType, relative: string): Promise<JsonObject | undefined> => {
    if (!zone.kind.recordTypes.includes(type)) return undefined;
    const document = await resources().read(`${zone.id}/${type}/${relative}`);
    return document && (document.body.resource.properties ?? {});
  };

  /** The zone that has authority over a name, `elsewhere` when it is delegated to servers that are not ours. */
  const publicZoneOf = async (name: string): Promise<Zone | 'elsewhere' | undefined> => {
    const labels = name.split('.');
    let zone: Zone | undefined;
    for (let at = labels.length - 1; at >= 0; at--) {
      const cut = labels.slice(at).join('.');
      if (zone === undefined) {
        [zone] = await zonesNamed(publicZones, cut);
        continue;
      }
      const delegation = await recordSet(zone, 'NS', relativeTo(zone, cut));
      if (delegation === undefined) continue;
      const servers = new Set(recordData('NS', delegation).map(foldCase));
      let next: Zone | undefined;
      for (const candidate of await zonesNamed(publicZones, cut)) {
        const apex = recordData('NS', await recordSet(candidate, 'NS', '@'));
        if (apex.some((server) => servers.has(foldCase(server)))) next = candidate;
      }
      if (next === undefined) return 'elsewhere';
      zone = next;
    }
    return zone;
  };
  const privateZoneOf = async (name: string): Promise<Zone | undefined> => {
    const labels = name.split('.');
    for (let at = 0; at < labels.length; at++) {
      const [zone] = await zonesNamed(privateZones, labels.slice(at).join('.'));
      if (zone) return zone;
    }
    return undefined;
  };

  const answersOf = async (name: string, type: RecordType, properties: JsonObject): Promise<readonly DnsAnswer[]> => {
    const ttlSeconds = ttlOf(properties);
    const alias = (memberOf(properties, 'targetResource') as JsonObject | undefined)?.id;
    if (typeof alias === 'string' && type === 'A') {
      const address = (await resources().read(alias))?.body.resource.properties?.ipAddress;
      return typeof address === 'string' ? [{ name, type, ttlSeconds, data: address }] : [];
    }
    return recordData(type, properties).map((data) => ({ name, type, ttlSeconds, data }));
  };

  const hasName = async (zone: Zone, relative: string): Promise<boolean> => {
    for (const type of zone.kind.recordTypes) if (await recordSet(zone, type, relative)) return true;
    return false;
  };

  /** The records at a name of a zone: of the type, or the alias that stands there. */
  const lookUp = async (zone: Zone, name: string, type: RecordType): Promise<readonly DnsAnswer[]> => {
    const relative = relativeTo(zone, name);
    const at = async (place: string): Promise<readonly DnsAnswer[] | undefined> => {
      const own = await recordSet(zone, type, place);
      if (own) return answersOf(name, type, own);
      const alias = type === 'CNAME' ? undefined : await recordSet(zone, 'CNAME', place);
      return alias && answersOf(name, 'CNAME', alias);
    };
    const exact = await at(relative);
    if (exact !== undefined) return exact;
    if (relative === '@' || (await hasName(zone, relative))) return [];
    const labels = relative.split('.');
    for (let from = 1; from <= labels.length; from++) {
      const wild = await at(['*', ...labels.slice(from)].join('.'));
      if (wild !== undefined) return wild;
    }
    return [];
  };

  const ofLabel = async (name: string, type: RecordType): Promise<readonly DnsAnswer[] | undefined> => {
    const owner = await (await reservationsOf(store)).owner(labelPool, name);
    if (owner === undefined) return undefined;
    const address = (await resources().read(owner))?.body.resource.properties?.ipAddress;
    return type === 'A' && typeof address === 'string' ? [{ name, type, ttlSeconds: 10, data: address }] : [];
  };

  const once: Resolve = async (name, type) => {
    const label = await ofLabel(name, type);
    if (label !== undefined) return label;
    const zone = await publicZoneOf(name);
    const found = zone === undefined || zone === 'elsewhere' ? undefined : await lookUp(zone, name, type);
    if (found !== undefined && found.length > 0) return found;
    const inside = await privateZoneOf(name);
    return inside ? lookUp(inside, name, type) : found;
  };

  return async (asked, type) => {
    let name = asked.toLowerCase().replace(/\.$/, '');
    if (name.length === 0 || name.length > 253) return undefined;
    const answers: DnsAnswer[] = [];
    for (let followed = 0; followed < maxAliases; followed++) {
      const found = await once(name, type);
      if (found === undefined) return followed === 0 ? undefined : answers;
      answers.push(...found);
      const alias = found.find((answer) => answer.type === 'CNAME');
      if (alias === undefined || type === 'CNAME') return answers;
      name = alias.data.replace(/\.$/, '').toLowerCase();
    }
    return answers;
  };
}

function relativeTo(zone: Zone, name: string): string {
  return name === zone.name ? '@' : name.slice(0, -zone.name.length - 1);
}
