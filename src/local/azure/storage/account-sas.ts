// Signed addresses that Resource Manager makes on request.
import { ArmError } from '../../../arm/errors.ts';
import type { ActionRequest } from '../kernel/provider.ts';
import type { Json } from '../kernel/record.ts';
import { hmac } from './signatures.ts';

function text({ body }: ActionRequest, name: string): string {
  const value = body?.[name];
  return typeof value === 'string' ? value : '';
}

function keyOf(request: ActionRequest): string {
  const name = text(request, 'keyToSign').toLowerCase() || 'key1';
  const key = request.record.secrets?.[name];
  if (key === undefined || (name !== 'key1' && name !== 'key2'))
    throw new ArmError(400, 'InvalidValues', 'The key to sign with must be one of: key1, key2.');
  return key.reveal();
}

function demandExpiry(request: ActionRequest): string {
  const expiry = text(request, 'signedExpiry');
  if (Number.isNaN(Date.parse(expiry)))
    throw new ArmError(400, 'InvalidValues', 'The signed expiry is missing or no time.');
  return expiry;
}

const version = '2020-12-06';

export async function accountSas(request: ActionRequest): Promise<Json> {
  const expiry = demandExpiry(request);
  const [services, types, permissions] = ['signedServices', 'signedResourceTypes', 'signedPermission'].map((name) =>
    text(request, name),
  );
  const [start, ip, protocol] = [
    text(request, 'signedStart'),
    text(request, 'signedIp'),
    text(request, 'signedProtocol'),
  ];
  const parts = [
    request.record.resource.name,
    permissions,
    services,
    types,
    start,
    expiry,
    ip,
    protocol,
    version,
    '',
    '',
  ];
  return {
    accountSasToken: query({
      sv: version,
      ss: services,
      srt: types,
      sp: permissions,
      st: start,
      se: expiry,
      sip: ip,
      spr: protocol,
      sig: hmac(keyOf(request), parts.join('\n')),
    }),
  };
}

export async function serviceSas(request: ActionRequest): Promise<Json> {
  const expiry = demandExpiry(request);
  const name = text(request, 'canonicalizedResource');
  const resource = text(request, 'signedResource');
  if (!name.startsWith(`/blob/${request.record.resource.name}/`) || !['b', 'c'].includes(resource))
    throw new ArmError(400, 'InvalidValues', 'The resource to sign must be a blob or a container of this account.');
  const [permissions, start, identifier] = [
    text(request, 'signedPermission'),
    text(request, 'signedStart'),
    text(request, 'signedIdentifier'),
  ];
  const [ip, protocol] = [text(request, 'signedIp'), text(request, 'signedProtocol')];
  const replies = ['rscc', 'rscd', 'rsce', 'rscl', 'rsct'].map((part) => text(request, part));
  const parts = [permissions, start, expiry, name, identifier, ip, protocol, version, resource, '', '', ...replies];
  return {
    serviceSasToken: query({
      sv: version,
      sr: resource,
      sp: permissions,
      st: start,
      se: expiry,
      si: identifier,
      sip: ip,
      spr: protocol,
      sig: hmac(keyOf(request), parts.join('\n')),
    }),
  };
}

function query(parts: { readonly [name: string]: string | undefined }): string {
  return Object.entries(parts)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`)
    .join('&');
}
