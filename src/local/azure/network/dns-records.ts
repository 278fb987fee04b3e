// Records of DNS zones: how bodies spell them, what they may be, and how a zone file writes them.

import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import type { RecordType } from '../kernel/network.ts';
import type { Json, JsonObject } from '../kernel/record.ts';
import { parseAddress } from './cidr.ts';
import { textOf } from './text.ts';

interface RecordForm {
  /** As public zones spell it; private zones begin it with a small letter. */
  readonly member: string;
  /** A list of records, or the one that there can be. */
  readonly isList: boolean;
  /** The members of a record and whether a value fits. */
  readonly fields: { readonly [name: string]: (value: Json | undefined) => boolean };
  data(record: JsonObject): string;
}

const name = (value: Json | undefined): boolean => typeof value === 'string' && isDnsName(value);
const number = (value: Json | undefined): boolean => typeof value === 'number' && Number.isInteger(value) && value >= 0;
const text = (value: Json | undefined): boolean => typeof value === 'string';
const address = (version: 4 | 6) => (value: Json | undefined) =>
  typeof value === 'string' && parseAddress(value)?.version === version;

export const recordForms: { readonly [type in RecordType]: RecordForm } = {
  A: list('ARecords', { ipv4Address: address(4) }, ({ ipv4Address }) => textOf(ipv4Address)),
  AAAA: list('AAAARecords', { ipv6Address: address(6) }, ({ ipv6Address }) => textOf(ipv6Address)),
  CNAME: { ...list('CNAMERecord', { cname: name }, ({ cname }) => absolute(cname)), isList: false },
  MX: list(
    'MXRecords',
    { preference: number, exchange: name },
    ({ preference, exchange }) => `${textOf(preference)} ${absolute(exchange)}`,
  ),
  NS: list('NSRecords', { nsdname: name }, ({ nsdname }) => absolute(nsdname)),
  PTR: list('PTRRecords', { ptrdname: name }, ({ ptrdname }) => absolute(ptrdname)),
  SRV: list(
    'SRVRecords',
    { priority: number, weight: number, port: number, target: name },
    ({ priority, weight, port, target }) => `${textOf(priority)} ${textOf(weight)} ${textOf(port)} ${absolute(target)}`,
  ),
  TXT: list(
    'TXTRecords',
    { value: (value) => Array.isArray(value) && value.every((part) => typeof part === 'string') },
    ({ value }) => (value as readonly string[]).map(quoted).join(' '),
  ),
  CAA: list(
    'caaRecords',
    { flags: number, tag: text, value: text },
    ({ flags, tag, value }) => `${textOf(flags)} ${textOf(tag)} ${quoted(textOf(value))}`,
  ),
  SOA: {
    ...list('SOARecord', {}, (soa) => {
      const { host, email, serialNumber, refreshTime, retryTime, expireTime } = soa;
      const minimum = soa.minimumTTL ?? soa.minimumTtl ?? 300;
      return [absolute(host), absolute(email), serialNumber, refreshTime, retryTime, expireTime, minimum]
        .map(textOf)
        .join(' ');
    }),
    isList: false,
  },
};

function list(member: string, fields: RecordForm['fields'], data: RecordForm['data']): RecordForm {
  return { member, isList: true, fields, data };
}

const label = /^(\*|@|[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)$/i;

/** A host name of at most 253 characters; a dot at the end does not count. */
export function isDnsName(value: string): boolean {
  const plain = value.endsWith('.') ? value.slice(0, -1) : value;
  return plain.length > 0 && plain.length <= 253 && plain.split('.').every((part) => label.test(part));
}

function absolute(value: Json | undefined): string {
  const plain = textOf(value ?? '');
  return plain.endsWith('.') ? plain : `${plain}.`;
}

function quoted(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** How a kind of zones spells a member. */
export type Spelling = (member: string) => string;

const maxRecords = 400;

/** The records of a body in the spelling that is kept. Throws BadRequest in the words of the provider. */
export function checkedRecords(type: RecordType, properties: JsonObject, spell: Spelling): JsonObject {
  const form = recordForms[type];
  const given = memberOf(properties, form.member);
  if (given === undefined) return form.isList ? { [spell(form.member)]: [] } : {};
  if (form.isList !== Array.isArray(given))
    throw badRequest(`The '${spell(form.member)}' of the record set has the wrong form.`);
  const records = (form.isList ? given : [given]) as readonly Json[];
  if (records.length > maxRecords)
    throw badRequest(`The record set has ${records.length} records; a record set can have ${maxRecords} at most.`);
  const checked = records.map((record) => {
    if (typeof record !== 'object' || record === null || Array.isArray(record))
      throw badRequest(`The '${spell(form.member)}' of the record set has the wrong form.`);
    const one = record as JsonObject;
    for (const [field, fits] of Object.entries(form.fields)) {
      if (!fits(one[field]))
        throw badRequest(
          `The value '${textOf(one[field]).slice(0, 100)}' of '${field}' is not valid for a record of type '${type}'.`,
        );
    }
    return one;
  });
  const seen = new Set(checked.map((record) => JSON.stringify(record)));
  if (seen.size < checked.length) throw badRequest('The record set has the same record twice.');
  return { [spell(form.member)]: form.isList ? checked : (checked[0] ?? {}) };
}

/** A member in any case: Azure reads `aRecords` and `ARecords` alike. */
export function memberOf(properties: JsonObject, member: string): Json | undefined {
  const wanted = foldCase(member);
  for (const [given, value] of Object.entries(properties))
    if (foldCase(given) === wanted && value !== null) return value;
  return undefined;
}

export function badRequest(message: string): ArmError {
  return new ArmError(400, 'BadRequest', message);
}

/** The records of a kept record set, as a zone file has them. */
export function recordData(type: RecordType, properties: JsonObject | undefined): readonly string[] {
  const form = recordForms[type];
  const given = memberOf(properties ?? {}, form.member);
  if (given === undefined) return [];
  return ((form.isList ? given : [given]) as readonly JsonObject[]).map((record) => form.data(record));
}

export function ttlOf(properties: JsonObject | undefined): number {
  const ttl = memberOf(properties ?? {}, 'TTL');
  return typeof ttl === 'number' ? ttl : 3600;
}
