// Groups and who is in them.
import { randomUUID } from 'node:crypto';
import { isRecord } from '../../../arm/record.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import type { DirectoryObject, Group } from '../entra/directory-objects.ts';
import {
  countAnswer,
  demandRoom,
  type GraphCall,
  type Handlers,
  listAnswer,
  mixedAnswer,
  noContent,
  objectAnswer,
  objectOf,
} from './call.ts';
import { badRequest, notFound } from './graph-error.ts';
import { demandCreate, demandRead, demandWrite } from './permissions.ts';
import { rest, textOf, textsOf, writeBody } from './properties.ts';

const own = ['displayName', 'mailNickname', 'securityEnabled', 'mailEnabled'];
const membersMax = 20_000;

export const groupHandlers: Handlers = {
  'GET groups': (call) => listAnswer(call, 'Group', call.entra.objects.list('Group', call.bearer.tenantId)),
  'GET groups/$count': (call) => countAnswer(call, 'Group'),
  'GET groups/{id}': (call) => objectAnswer(call, readable(call)),
  'POST groups': async (call) => {
    demandCreate(call.bearer, 'groups');
    demandRoom(call);
    const body = writeBody('Group', call.body, ['displayName', 'mailEnabled', 'mailNickname', 'securityEnabled']);
    if (body.mailEnabled === true) throw badRequest('Groups with mail are not available in this directory.');
    const bound = (name: string): readonly string[] =>
      (textsOf(body[name]) ?? []).map((link) => referenced(call, link).id);
    const group: Group = {
      kind: 'Group',
      id: randomUUID(),
      tenantId: call.bearer.tenantId,
      displayName: textOf(body, 'displayName') ?? '',
      createdDateTime: new Date(call.entra.clock.now()).toISOString(),
      mailNickname: textOf(body, 'mailNickname') ?? '',
      securityEnabled: body.securityEnabled === true,
      members: bound('members@odata.bind'),
      owners: [...new Set([call.bearer.objectId, ...bound('owners@odata.bind')])],
      more: rest(body, own),
    };
    await call.entra.objects.create(group.tenantId, [group]);
    return objectAnswer(call, group, 201);
  },
  'PATCH groups/{id}': async (call) => {
    const group = writableGroup(call);
    const body = writeBody('Group', call.body);
    const added = (textsOf(body['members@odata.bind']) ?? []).map((link) => referenced(call, link).id);
    await call.entra.objects.change<'Group'>(group, (now) => ({
      ...now,
      displayName: textOf(body, 'displayName') ?? now.displayName,
      mailNickname: textOf(body, 'mailNickname') ?? now.mailNickname,
      members: withMembers(now.members, added),
      more: { ...now.more, ...rest(body, own) },
    }));
    return noContent;
  },
  'DELETE groups/{id}': async (call) => {
    const group = writableGroup(call);
    await call.entra.objects.remove(group.tenantId, [group.id]);
    return noContent;
  },
  'GET groups/{id}/members': (call) => mixedAnswer(call, existing(call, readable(call).members)),
  'GET groups/{id}/owners': (call) => mixedAnswer(call, existing(call, readable(call).owners)),
  'GET groups/{id}/transitiveMembers': (call) => mixedAnswer(call, within(call, readable(call))),
  'POST groups/{id}/members/$ref': async (call) => {
    const group = writableGroup(call);
    const member = bodyReference(call);
    if (member.id === group.id) throw badRequest('A group cannot be a member of itself.');
    if (group.members.includes(member.id)) {
      throw badRequest(
        "One or more added object references already exist for the following modified properties: 'members'.",
      );
    }
    await call.entra.objects.change<'Group'>(group, (now) => ({
      ...now,
      members: withMembers(now.members, [member.id]),
    }));
    return noContent;
  },
  'DELETE groups/{id}/members/{member}/$ref': async (call) => {
    const group = writableGroup(call);
    const member = foldCase(call.parameters.member ?? '');
    if (!group.members.includes(member)) throw notFound(member);
    await call.entra.objects.change<'Group'>(group, (now) => ({
      ...now,
      members: now.members.filter((id) => id !== member),
    }));
    return noContent;
  },
  'POST groups/{id}/owners/$ref': async (call) => {
    const group = writableGroup(call);
    const owner = bodyReference(call);
    await call.entra.objects.change<'Group'>(group, (now) => ({
      ...now,
      owners: [...new Set([...now.owners, owner.id])],
    }));
    return noContent;
  },
};

function readable(call: GraphCall): Group {
  const group = objectOf(call, 'Group');
  demandRead(call.bearer, 'groups', group);
  return group;
}

function writableGroup(call: GraphCall): Group {
  const group = objectOf(call, 'Group');
  demandWrite(call.bearer, 'groups', group);
  return group;
}

function withMembers(members: readonly string[], added: readonly string[]): readonly string[] {
  const all = [...new Set([...members, ...added])];
  if (all.length > membersMax) throw badRequest(`A group can have ${membersMax} members.`);
  return all;
}

/** Of ids, the objects that are still there. */
export function existing(call: GraphCall, ids: readonly string[]): readonly DirectoryObject[] {
  return ids.map((id) => call.entra.objects.get(id)).filter((object) => object !== undefined);
}

/** Everyone in a group, through nested ones too. */
function within(call: GraphCall, group: Group): readonly DirectoryObject[] {
  const seen = new Map<string, DirectoryObject>();
  const next = [...existing(call, group.members)];
  for (let object = next.pop(); object !== undefined; object = next.pop()) {
    if (seen.has(object.id)) continue;
    seen.set(object.id, object);
    if (object.kind === 'Group') next.push(...existing(call, object.members));
  }
  return [...seen.values()];
}

/** `{"@odata.id": "https://graph…/v1.0/directoryObjects/{id}"}`. */
export function bodyReference(call: GraphCall): DirectoryObject {
  const link = isRecord(call.body) ? call.body['@odata.id'] : undefined;
  if (typeof link !== 'string') throw badRequest("The request body must name the object in '@odata.id'.");
  return referenced(call, link);
}

function referenced(call: GraphCall, link: string): DirectoryObject {
  const id = /\/([0-9a-fA-F-]{36})\/?$/.exec(link)?.[1] ?? '';
  const object = call.entra.objects.get(id);
  if (!object || object.kind === 'Application' || object.tenantId !== call.bearer.tenantId) throw notFound(id);
  return object;
}
