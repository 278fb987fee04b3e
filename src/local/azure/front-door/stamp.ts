// What Resource Manager tells a provider about a request, in headers that only it may set.
import { randomUUID } from 'node:crypto';
import { isRecord } from '../../../arm/record.ts';
import type { ResourceId } from '../../../arm/resource-id.ts';
import { type IdentityType, mergeSystemData } from '../../../arm/system-data.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';

export interface StampOptions {
  readonly world: Pick<World, 'cloud' | 'clock' | 'directory'>;
  readonly method: string;
  /** As the client sent it, with host and query: links in answers start from it. */
  readonly referer: string;
  readonly caller: CallerIdentity;
  readonly correlationId: string;
  readonly id: ResourceId | undefined;
  /** Where the end of an asynchronous operation may be told. */
  readonly notificationUri?: string;
  /** What is known of the resource. */
  readonly record?: ResourceRecord;
  /** The request's body, for the identities it names. */
  readonly body?: unknown;
}

const byType: { readonly [kind in CallerIdentity['kind']]: IdentityType } = {
  User: 'User',
  ServicePrincipal: 'Application',
  ManagedIdentity: 'ManagedIdentity',
};

/** Headers of clients that are handed on; all others stay here, whatever they are called. */
const passed = [
  'accept-language',
  'if-match',
  'if-none-match',
  'prefer',
  'user-agent',
  'traceparent',
  'tracestate',
  'x-ms-client-request-id',
  'x-ms-return-client-request-id',
] as const;

export function passedHeaders(sent: { readonly [name: string]: string | string[] | undefined }): {
  [name: string]: string;
} {
  const headers: { [name: string]: string } = {};
  for (const name of passed) {
    const value = sent[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}

export function stamps(options: StampOptions): { readonly [name: string]: string } {
  const { world, method, caller, correlationId, id, record } = options;
  const { tenantId } = world.directory;
  const isWrite = method !== 'GET' && method !== 'HEAD';
  const systemData = mergeSystemData(record?.systemData, {}, new Date(world.clock.now()), {
    by: caller.name ?? caller.appId ?? caller.objectId,
    byType: byType[caller.kind],
  });
  return {
    'x-ms-home-tenant-id': tenantId,
    'x-ms-client-tenant-id': caller.tenantId,
    'x-ms-client-object-id': caller.objectId,
    'x-ms-client-principal-id': caller.objectId,
    ...(caller.name === undefined ? {} : { 'x-ms-client-principal-name': headerText(caller.name) }),
    ...(caller.appId === undefined ? {} : { 'x-ms-client-app-id': caller.appId }),
    'x-ms-correlation-request-id': correlationId,
    'x-ms-arm-request-tracking-id': randomUUID(),
    'x-ms-arm-network-source': 'PublicNetwork',
    referer: options.referer,
    ...(isWrite ? { 'x-ms-arm-resource-system-data': headerText(JSON.stringify(systemData)) } : {}),
    ...(options.notificationUri === undefined ? {} : { 'azure-asyncnotificationuri': options.notificationUri }),
    ...(id === undefined || !isWrite ? {} : identityStamps(options, id)),
  };
}

/** Where the provider gets credentials of the identities that the resource has. */
function identityStamps({ world, record, body }: StampOptions, id: ResourceId): { readonly [name: string]: string } {
  const identity = isRecord(body) && isRecord(body.identity) ? body.identity : record?.resource.identity;
  if (!isRecord(identity) || identity.type === undefined || identity.type === 'None') return {};
  const known = record?.resource.identity;
  const principalId = identity.principalId ?? (isRecord(known) ? known.principalId : undefined);
  return {
    'x-ms-identity-url': identityUrl(world, id, record?.resource.location),
    ...(typeof principalId === 'string' ? { 'x-ms-identity-principal-id': principalId } : {}),
  };
}

export function identityUrl(
  { cloud }: Pick<World, 'cloud'>,
  { key }: ResourceId,
  location: string | undefined,
): string {
  const port = new URL(cloud.origin).port;
  const host = `control-${location ?? 'global'}.identity.${cloud.suffix}`;
  return `https://${host}:${port}${encodeURI(key)}/credentials/v2/identities`;
}

/** Header values are ASCII: others are escaped the way JSON does. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
