// `systemData`: who made and who last changed a resource, as ARM says in `x-ms-arm-resource-system-data`.
import type { FastifyRequest } from 'fastify';
import { armHeader } from './authentication.ts';
import { isRecord } from './record.ts';

const identityTypes = ['User', 'Application', 'ManagedIdentity', 'Key'] as const;
export type IdentityType = (typeof identityTypes)[number];

export interface SystemData {
  readonly createdBy?: string;
  readonly createdByType?: IdentityType;
  /** RFC 3339. */
  readonly createdAt?: string;
  readonly lastModifiedBy?: string;
  readonly lastModifiedByType?: IdentityType;
  readonly lastModifiedAt?: string;
}

export interface SystemDataDefaults {
  /** The name used where ARM gives none. */
  readonly by: string;
  readonly byType: IdentityType;
}

const headerMaxLength = 4096;
const nameMaxLength = 1024;
const names = ['createdBy', 'lastModifiedBy'] as const;
const types = ['createdByType', 'lastModifiedByType'] as const;
const times = ['createdAt', 'lastModifiedAt'] as const;

/**
 * What ARM's header says. Absent, from somebody else than ARM, or malformed (which is logged): empty. Members that are empty,
 * unknown or of the wrong kind are left out one by one.
 */
export function systemDataOf(request: FastifyRequest): SystemData {
  const header = armHeader(request, 'x-ms-arm-resource-system-data');
  if (header === undefined) return {};
  const parsed = parse(header);
  if (parsed === undefined) {
    request.log.warn({ header: 'x-ms-arm-resource-system-data' }, 'a header from ARM is malformed and was ignored');
    return {};
  }
  return parsed;
}

function parse(header: string): SystemData | undefined {
  if (header.length > headerMaxLength) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(header);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const given = value;
  const data: Record<string, string> = {};
  for (const name of names) {
    const text = given[name];
    if (typeof text === 'string' && text !== '' && text.length <= nameMaxLength) data[name] = text;
  }
  for (const name of types) {
    const type = identityTypes.find((known) => known === given[name]);
    if (type !== undefined) data[name] = type;
  }
  for (const name of times) {
    const time = given[name];
    if (typeof time === 'string' && time.length <= 64 && isTime(time)) data[name] = time;
  }
  return data;
}

const timeForm = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

/** RFC 3339, with a day that its month has. */
function isTime(text: string): boolean {
  const day = timeForm.exec(text)?.[1];
  if (day === undefined || Number.isNaN(Date.parse(text.toUpperCase()))) return false;
  // Days that a month does not have run over into the next one.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/**
 * The systemData to store with a write. Who created the resource and when stays as it was; what ARM does not say of the
 * change is `now` and the default name.
 */
export function mergeSystemData(
  old: SystemData | undefined,
  given: SystemData,
  now: Date,
  defaults: SystemDataDefaults,
): Required<SystemData> {
  const time = now.toISOString();
  const created = old?.createdAt !== undefined || old?.createdBy !== undefined ? old : given;
  return {
    createdBy: created.createdBy ?? defaults.by,
    createdByType: created.createdByType ?? defaults.byType,
    createdAt: created.createdAt ?? time,
    lastModifiedBy: given.lastModifiedBy ?? defaults.by,
    lastModifiedByType: given.lastModifiedByType ?? defaults.byType,
    lastModifiedAt: given.lastModifiedAt ?? time,
  };
}
