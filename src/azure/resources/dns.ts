import type { ResourceRequest } from '../arm-client.ts';
import type { JsonObject } from '../json.ts';
import { type Group, resourceIdIn } from './ids.ts';

export const dnsVersion = '2018-05-01';
export const privateDnsVersion = '2020-06-01';

export function dnsZone(group: Group, name: string): ResourceRequest {
  return {
    id: resourceIdIn(group, 'Microsoft.Network/dnsZones', name),
    apiVersion: dnsVersion,
    body: { location: 'global', properties: { zoneType: 'Public' } },
  };
}

/** What a name leads to. An A record without addresses only holds the name. */
export type Records =
  | { readonly type: 'A'; readonly addresses: readonly string[] }
  | { readonly type: 'CNAME'; readonly target: string }
  | { readonly type: 'NS'; readonly nameServers: readonly string[] }
  | { readonly type: 'TXT'; readonly texts: readonly string[] };

const defaultTtlSeconds = 300;

/** `name` is relative to the zone: `api.cluster`, `*.apps.cluster`, `@`. */
export function recordSet(
  group: Group,
  zone: string,
  name: string,
  records: Records,
  options: { readonly ttlSeconds?: number; readonly metadata?: { readonly [name: string]: string } } = {},
): ResourceRequest {
  const { ttlSeconds = defaultTtlSeconds, metadata } = options;
  return {
    id: resourceIdIn(group, `Microsoft.Network/dnsZones/${records.type}`, zone, name),
    apiVersion: dnsVersion,
    body: {
      properties: { TTL: ttlSeconds, ...(metadata === undefined ? {} : { metadata }), ...recordsMember(records) },
    },
  };
}

function recordsMember(records: Records): JsonObject {
  switch (records.type) {
    case 'A':
      return { ARecords: records.addresses.map((ipv4Address) => ({ ipv4Address })) };
    case 'CNAME':
      return { CNAMERecord: { cname: records.target } };
    case 'NS':
      return { NSRecords: records.nameServers.map((nsdname) => ({ nsdname })) };
    case 'TXT':
      return { TXTRecords: records.texts.map((text) => ({ value: [text] })) };
  }
}

export function privateDnsZone(group: Group, name: string): ResourceRequest {
  return {
    id: resourceIdIn(group, 'Microsoft.Network/privateDnsZones', name),
    apiVersion: privateDnsVersion,
    body: { location: 'global' },
  };
}

/** Makes a private zone answer in a network. */
export function privateDnsZoneLink(group: Group, zone: string, name: string, networkId: string): ResourceRequest {
  return {
    id: resourceIdIn(group, 'Microsoft.Network/privateDnsZones/virtualNetworkLinks', zone, name),
    apiVersion: privateDnsVersion,
    body: { location: 'global', properties: { virtualNetwork: { id: networkId }, registrationEnabled: false } },
  };
}
