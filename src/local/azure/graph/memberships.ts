// Which groups a user, group or service principal is in, and objects of any type by id.
import { isRecord } from '../../../arm/record.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import type { DirectoryObject, Group, ObjectKind } from '../entra/directory-objects.ts';
import { areas, type GraphCall, type Handler, type Handlers, mixedAnswer, objectOf } from './call.ts';
import { badRequest, notFound } from './graph-error.ts';
import { existing } from './groups.ts';
import { demandRead } from './permissions.ts';
import { textsOf } from './properties.ts';
import { typedShapeOf, typeNames } from './shapes.ts';
import { me } from './users.ts';

const idsMax = 1000;
const checkedMax = 20;

const memberOf = (call: GraphCall, object: DirectoryObject): readonly Group[] =>
  call.entra.objects.list('Group', object.tenantId).filter((group) => group.members.includes(object.id));

const transitive = (call: GraphCall, object: DirectoryObject): readonly DirectoryObject[] =>
  existing(call, call.entra.objects.groupsOf(object.id));

/** The four questions about an object's groups, below the object's own path. */
function questions(find: (call: GraphCall) => DirectoryObject): Readonly<Record<string, Handler>> {
  return {
    'GET memberOf': (call) => mixedAnswer(call, memberOf(call, find(call))),
    'GET transitiveMemberOf': (call) => mixedAnswer(call, transitive(call, find(call))),
    'POST checkMemberGroups': (call) => {
      const object = find(call);
      const asked = idsOf(call, 'groupIds', checkedMax);
      const groups = call.entra.objects.groupsOf(object.id);
      return texts(
        call,
        asked.filter((id) => groups.includes(id)),
      );
    },
    'POST checkMemberObjects': (call) => {
      const object = find(call);
      const asked = idsOf(call, 'ids', checkedMax);
      const groups = call.entra.objects.groupsOf(object.id);
      return texts(
        call,
        asked.filter((id) => groups.includes(id)),
      );
    },
    'POST getMemberGroups': (call) => texts(call, call.entra.objects.groupsOf(find(call).id)),
    'POST getMemberObjects': (call) => texts(call, call.entra.objects.groupsOf(find(call).id)),
  };
}

function below(path: string, find: (call: GraphCall) => DirectoryObject): Handlers {
  return Object.fromEntries(
    Object.entries(questions(find)).map(([key, handler]) => {
      const [method, name] = key.split(' ');
      return [`${method} ${path}/${name}`, handler];
    }),
  );
}

const readableOf =
  (kind: 'User' | 'Group' | 'ServicePrincipal') =>
  (call: GraphCall): DirectoryObject => {
    const object = objectOf(call, kind);
    demandRead(call.bearer, areas[kind], object);
    return object;
  };

const anyObject = (call: GraphCall): DirectoryObject => {
  const id = call.parameters.id ?? '';
  const object = call.entra.objects.get(id);
  if (object?.tenantId !== call.bearer.tenantId) throw notFound(id);
  demandRead(call.bearer, areas[object.kind], object);
  return object;
};

export const membershipHandlers: Handlers = {
  ...below('me', me),
  ...below('users/{id}', readableOf('User')),
  ...below('groups/{id}', readableOf('Group')),
  ...below('servicePrincipals/{id}', readableOf('ServicePrincipal')),
  ...below('directoryObjects/{id}', anyObject),
  'GET directoryObjects/{id}': (call) => ({
    status: 200,
    body: { '@odata.context': `${call.base}/$metadata#directoryObjects/$entity`, ...typedShapeOf(anyObject(call)) },
  }),
  'POST directoryObjects/getByIds': (call) => {
    const ids = idsOf(call, 'ids', idsMax);
    const types = isRecord(call.body) && call.body.types !== undefined ? textsOf(call.body.types) : [];
    if (!types) throw badRequest("Invalid value specified for property 'types' of the request.");
    const wanted = new Set(types.map((type) => type.toLowerCase()));
    const shown = (kind: ObjectKind): boolean =>
      wanted.size === 0 || wanted.has('directoryobject') || wanted.has(typeNames[kind].toLowerCase());
    const objects = existing(call, [...new Set(ids)]).filter(
      (object) => object.tenantId === call.bearer.tenantId && shown(object.kind),
    );
    for (const object of objects) demandRead(call.bearer, areas[object.kind], object);
    return {
      status: 200,
      body: { '@odata.context': `${call.base}/$metadata#directoryObjects`, value: objects.map(typedShapeOf) },
    };
  },
};

function idsOf(call: GraphCall, name: string, most: number): readonly string[] {
  const ids = isRecord(call.body) ? textsOf(call.body[name]) : undefined;
  if (!ids || ids.length === 0) throw badRequest(`A value is required for parameter '${name}'.`);
  if (ids.length > most) throw badRequest(`Parameter '${name}' can have ${most} values.`);
  return ids.map(foldCase);
}

function texts(call: GraphCall, value: readonly string[]) {
  return { status: 200, body: { '@odata.context': `${call.base}/$metadata#Collection(Edm.String)`, value } };
}
