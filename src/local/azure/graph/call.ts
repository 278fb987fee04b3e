// One request to Graph, and how answers are made of directory objects.
import type { Bearer } from '../entra/bearer.ts';
import type { Entra } from '../entra/context.ts';
import type { DirectoryObject, ObjectKind, ObjectOf } from '../entra/directory-objects.ts';
import type { JsonObject } from '../kernel/record.ts';
import { badQuery, notFound, quotaExceeded } from './graph-error.ts';
import { type Area, demandRead } from './permissions.ts';
import { listOptions, pageOf, selected, selectOf } from './query.ts';
import { shapeOf, typedShapeOf, typeNames } from './shapes.ts';

export interface GraphCall {
  readonly entra: Entra;
  readonly bearer: Bearer;
  /** Where links start: `https://host/v1.0`. */
  readonly base: string;
  /** Below the version, as it came. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly consistencyLevel: string | undefined;
  readonly body: unknown;
}

export interface GraphAnswer {
  readonly status: number;
  readonly body?: JsonObject | string;
}

export type Handler = (call: GraphCall) => Promise<GraphAnswer> | GraphAnswer;

/** By method and path: `GET applications/{id}/owners`. */
export type Handlers = Readonly<Record<string, Handler>>;

export const areas: Readonly<Record<ObjectKind, Area>> = {
  User: 'users',
  Group: 'groups',
  Application: 'applications',
  ServicePrincipal: 'applications',
};

const collections: Readonly<Record<ObjectKind, string>> = {
  User: 'users',
  Group: 'groups',
  Application: 'applications',
  ServicePrincipal: 'servicePrincipals',
};

const objectsMax = 50_000;

export const noContent: GraphAnswer = { status: 204 };

/** Properties that lists of a type may name. */
const extra: Readonly<Record<ObjectKind, readonly string[]>> = {
  User: ['companyName', 'department', 'employeeId', 'otherMails', 'usageLocation', 'onPremisesImmutableId'],
  Group: ['isAssignableToRole', 'onPremisesSyncEnabled'],
  Application: ['uniqueName', 'optionalClaims', 'groupMembershipClaims', 'serviceManagementReference'],
  ServicePrincipal: ['description', 'homepage', 'loginUrl', 'notes', 'preferredSingleSignOnMode'],
};

function propertiesOf(kind: ObjectKind, shape: JsonObject = {}): ReadonlySet<string> {
  return new Set([...(sampleNames[kind] ?? []), ...extra[kind], ...Object.keys(shape)]);
}

const common = { id: '', tenantId: '', displayName: '', createdDateTime: '' } as const;
const samples: readonly DirectoryObject[] = [
  { ...common, kind: 'User', userPrincipalName: '', upnKey: '', accountEnabled: true, directoryRoles: [] },
  { ...common, kind: 'Group', mailNickname: '', securityEnabled: true, members: [], owners: [] },
  {
    ...common,
    kind: 'Application',
    appId: '',
    identifierUris: [],
    redirectUris: { web: [], spa: [], publicClient: [] },
    isFallbackPublicClient: false,
    accessTokenVersion: 1,
    passwordCredentials: [],
    keyCredentials: [],
    federatedIdentityCredentials: [],
    owners: [],
  },
  {
    ...common,
    kind: 'ServicePrincipal',
    appId: '',
    servicePrincipalType: 'Application',
    servicePrincipalNames: [],
    accountEnabled: true,
    grantedRoles: {},
    owners: [],
  },
];
const sampleNames: Readonly<Partial<Record<ObjectKind, readonly string[]>>> = Object.fromEntries(
  samples.map((object) => [object.kind, Object.keys(shapeOf(object))]),
);

/** A page of a type's objects. */
export function listAnswer<K extends ObjectKind>(
  call: GraphCall,
  kind: K,
  objects: readonly ObjectOf<K>[],
): GraphAnswer {
  demandRead(call.bearer, areas[kind]);
  return pageAnswer(call, typeNames[kind], collections[kind], objects.map(shapeOf), propertiesOf(kind));
}

/** A page of objects of several types. */
export function mixedAnswer(call: GraphCall, objects: readonly DirectoryObject[]): GraphAnswer {
  const names = new Set(Object.values(sampleNames).flatMap((list) => list ?? []));
  return pageAnswer(call, 'directoryObject', 'directoryObjects', objects.map(typedShapeOf), names);
}

/** A page of anything that has an id. */
export function pageAnswer(
  call: GraphCall,
  type: string,
  context: string,
  shapes: readonly JsonObject[],
  properties: ReadonlySet<string>,
): GraphAnswer {
  const options = listOptions(call.query, type, properties, call.consistencyLevel);
  const page = pageOf(shapes, options);
  let next: string | undefined;
  if (page.skipToken !== undefined) {
    const query = new URLSearchParams(call.query);
    query.set('$skiptoken', page.skipToken);
    next = `${call.base}/${call.path}?${query.toString()}`;
  }
  return {
    status: 200,
    body: {
      '@odata.context': `${call.base}/$metadata#${context}`,
      ...(options.count ? { '@odata.count': page.count } : {}),
      ...(next === undefined ? {} : { '@odata.nextLink': next }),
      value: page.value,
    },
  };
}

export function countAnswer<K extends ObjectKind>(call: GraphCall, kind: K): GraphAnswer {
  demandRead(call.bearer, areas[kind]);
  if (call.consistencyLevel?.toLowerCase() !== 'eventual') {
    throw badQuery('$count is not currently supported without ConsistencyLevel: eventual.');
  }
  const options = listOptions(call.query, typeNames[kind], propertiesOf(kind), call.consistencyLevel);
  const shapes = call.entra.objects.list(kind, call.bearer.tenantId).map(shapeOf);
  return { status: 200, body: String(pageOf(shapes, options).count) };
}

export function objectAnswer(call: GraphCall, object: DirectoryObject, status = 200): GraphAnswer {
  const shape = shapeOf(object);
  const select = selectOf(call.query, typeNames[object.kind], propertiesOf(object.kind, shape));
  const context = `${call.base}/$metadata#${collections[object.kind]}/$entity`;
  return { status, body: { '@odata.context': context, ...selected(shape, select) } };
}

/** The object that a path's `{id}` names in the caller's tenant. Throws 404. */
export function objectOf<K extends ObjectKind>(call: GraphCall, kind: K, id = call.parameters.id ?? ''): ObjectOf<K> {
  const { objects } = call.entra;
  const { tenantId } = call.bearer;
  const [, byAppId] = /^appId='([^']*)'$/i.exec(id) ?? [];
  const found: DirectoryObject | undefined =
    byAppId === undefined
      ? (objects.find(kind, id) ?? (kind === 'User' ? objects.user(tenantId, id) : undefined))
      : kind === 'ServicePrincipal'
        ? objects.servicePrincipal(tenantId, byAppId)
        : kind === 'Application'
          ? objects.application(byAppId)
          : undefined;
  if (found?.kind !== kind || found.tenantId !== tenantId) throw notFound(byAppId ?? id);
  return found as ObjectOf<K>;
}

/** Throws 403 when the directory is full. */
export function demandRoom(call: GraphCall): void {
  const { objects } = call.entra;
  const kinds: readonly ObjectKind[] = ['User', 'Group', 'Application', 'ServicePrincipal'];
  const all = kinds.reduce((sum, kind) => sum + objects.list(kind, call.bearer.tenantId).length, 0);
  if (all >= objectsMax) throw quotaExceeded();
}
