// Tags: those of any scope as a resource of their own (`…/providers/Microsoft.Resources/tags/default`), and the names of tags that a
// subscription makes in advance.

import { checkBody } from '../../../arm/check-body.ts';
import { ArmError, notFound } from '../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../arm/resource-id.ts';
import { Enum, MapOf } from '../../../arm/schema.ts';
import { Type } from '../../../arm/type.ts';
import { type Answer, type ArmCall, ok } from '../arm/call.ts';
import { wholeList } from '../arm/lists.ts';
import type { ArmRoute, RouteMatch } from '../arm/routes.ts';
import { checkTags, type Tags } from '../kernel/tags.ts';
import { ownVersions as apiVersions } from './api-versions.ts';
import { subscriptionOf } from './subscription-routes.ts';

const tagsSchema = Type.Object({
  operation: Type.Optional(Enum(['Merge', 'Replace', 'Delete'])),
  properties: Type.Object({ tags: Type.Optional(MapOf(Type.String())) }),
});

type Change = (old: Tags, given: Tags) => Tags;

/** Names of tags compare without case; the name that is there keeps its spelling. */
const changes: { readonly [operation in 'Merge' | 'Replace' | 'Delete']: Change } = {
  Replace: (_old, given) => given,
  Merge(old, given) {
    const merged: Record<string, string> = { ...old };
    for (const [name, value] of Object.entries(given)) merged[sameName(merged, name) ?? name] = value;
    return merged;
  },
  Delete(old, given) {
    const left: Record<string, string> = { ...old };
    for (const [name, value] of Object.entries(given)) {
      const there = sameName(left, name);
      if (there !== undefined && left[there] === value) delete left[there];
    }
    return left;
  },
};

function sameName(tags: Tags, name: string): string | undefined {
  const folded = foldCase(name);
  return Object.keys(tags).find((other) => foldCase(other) === folded);
}

const path = '{scope}/providers/Microsoft.Resources/tags/default';

const scopedRoutes: readonly ArmRoute[] = [
  {
    method: 'GET',
    path,
    apiVersions,
    action: 'Microsoft.Resources/tags/read',
    run: async (call, match) => answer(match, await tagsOf(call, scopeOf(match))),
  },
  {
    method: 'PUT',
    path,
    apiVersions,
    action: 'Microsoft.Resources/tags/write',
    run: async (call, match) => answer(match, await changeTags(call, match, 'Replace')),
  },
  {
    method: 'PATCH',
    path,
    apiVersions,
    action: 'Microsoft.Resources/tags/write',
    async run(call, match) {
      const { operation = 'Merge' } = checkBody(tagsSchema, call.body);
      return answer(match, await changeTags(call, match, operation));
    },
  },
  {
    method: 'DELETE',
    path,
    apiVersions,
    action: 'Microsoft.Resources/tags/delete',
    async run(call, match) {
      await writeTags(call, scopeOf(match), () => ({}));
      return { status: 200 };
    },
  },
];

function scopeOf({ on }: RouteMatch): ResourceId {
  if (on) return on;
  throw new ArmError(400, 'InvalidScope', 'Tags are kept on subscriptions, resource groups and resources.');
}

function answer(match: RouteMatch, tags: Tags): Answer {
  return ok({
    id: `${scopeOf(match).text}/providers/Microsoft.Resources/tags/default`,
    name: 'default',
    type: 'Microsoft.Resources/tags',
    properties: { tags },
  });
}

async function changeTags(call: ArmCall, match: RouteMatch, operation: keyof typeof changes): Promise<Tags> {
  const given = checkTags(checkBody(tagsSchema, call.body).properties.tags) ?? {};
  return writeTags(call, scopeOf(match), (old) => checkTags(changes[operation](old, given)) ?? {});
}

async function tagsOf(call: ArmCall, scope: ResourceId): Promise<Tags> {
  if (isSubscription(scope)) return subscriptionOf(call, scope.subscriptionId).tags;
  const document = await call.world.resources.read(scope.key);
  if (!document) throw notFound(scope);
  return document.body.resource.tags ?? {};
}

async function writeTags(call: ArmCall, scope: ResourceId, change: (old: Tags) => Tags): Promise<Tags> {
  const { subscriptions, resources } = call.world;
  if (isSubscription(scope)) {
    const changed = await subscriptions.change(scope.subscriptionId ?? '', (subscription) => ({
      ...subscription,
      tags: change(subscription.tags),
    }));
    return changed?.tags ?? {};
  }
  if (call.registry.type(scope.type)?.type.location === 'none')
    throw new ArmError(400, 'ResourceTypeDoesNotSupportTags', `The resource type '${scope.type}' has no tags.`);
  const changed = await resources.change(scope.key, (record) => ({
    ...record,
    resource: { ...record.resource, tags: change(record.resource.tags ?? {}) },
  }));
  if (!changed) throw notFound(scope);
  return changed.resource.tags ?? {};
}

function isSubscription(id: ResourceId): boolean {
  return id.scope === 'subscription' && id.types.length === 0;
}

const names = '/subscriptions/{subscriptionId}/tagNames';
const maxNames = 100;
const maxValues = 100;

const nameRoutes: readonly ArmRoute[] = [
  {
    method: 'GET',
    path: names,
    apiVersions,
    action: 'Microsoft.Resources/subscriptions/tagNames/read',
    async run(call, { parameters }) {
      const { subscriptionId, tagNames = {} } = subscriptionOf(call, parameters.subscriptionId);
      return ok(wholeList(Object.entries(tagNames).map(([name, values]) => shownName(subscriptionId, name, values))));
    },
  },
  {
    method: 'PUT',
    path: `${names}/{tagName}`,
    apiVersions,
    action: 'Microsoft.Resources/subscriptions/tagNames/write',
    async run(call, { parameters }) {
      const name = checkedName(parameters.tagName);
      const { created, subscriptionId, values } = await changeNames(call, parameters, name, (old) => old ?? []);
      return { status: created ? 201 : 200, body: shownName(subscriptionId, name, values ?? []) };
    },
  },
  {
    method: 'DELETE',
    path: `${names}/{tagName}`,
    apiVersions,
    action: 'Microsoft.Resources/subscriptions/tagNames/delete',
    async run(call, { parameters }) {
      const name = checkedName(parameters.tagName);
      const { created } = await changeNames(call, parameters, name, () => undefined);
      return { status: created ? 204 : 200 };
    },
  },
  {
    method: 'PUT',
    path: `${names}/{tagName}/tagValues/{tagValue}`,
    apiVersions,
    action: 'Microsoft.Resources/subscriptions/tagNames/tagValues/write',
    async run(call, { parameters }) {
      const name = checkedName(parameters.tagName);
      const value = parameters.tagValue ?? '';
      checkTags({ [name]: value });
      let isNew = false;
      const { subscriptionId } = await changeNames(call, parameters, name, (old) => {
        if (old === undefined)
          throw new ArmError(404, 'TagNameNotFound', `The tag name '${name}' could not be found in the subscription.`);
        isNew = !old.includes(value);
        if (old.length >= maxValues && isNew)
          throw new ArmError(409, 'TooManyTagValues', `A tag name may have ${maxValues} values made in advance.`);
        return isNew ? [...old, value] : old;
      });
      return { status: isNew ? 201 : 200, body: shownValue(subscriptionId, name, value) };
    },
  },
  {
    method: 'DELETE',
    path: `${names}/{tagName}/tagValues/{tagValue}`,
    apiVersions,
    action: 'Microsoft.Resources/subscriptions/tagNames/tagValues/delete',
    async run(call, { parameters }) {
      const name = checkedName(parameters.tagName);
      let isGone = false;
      await changeNames(call, parameters, name, (old) => {
        isGone = old?.includes(parameters.tagValue ?? '') === true;
        return old?.filter((value) => value !== parameters.tagValue);
      });
      return { status: isGone ? 200 : 204 };
    },
  },
];

function checkedName(name: string | undefined): string {
  checkTags({ [name ?? '']: '' });
  return name ?? '';
}

/** Gives the values after the change, and whether the name was not there before. */
async function changeNames(
  call: ArmCall,
  parameters: RouteMatch['parameters'],
  name: string,
  change: (old: readonly string[] | undefined) => readonly string[] | undefined,
): Promise<{
  readonly subscriptionId: string;
  readonly created: boolean;
  readonly values: readonly string[] | undefined;
}> {
  const { subscriptionId } = subscriptionOf(call, parameters.subscriptionId);
  let outcome: { readonly created: boolean; readonly values: readonly string[] | undefined } = {
    created: false,
    values: undefined,
  };
  await call.world.subscriptions.change(subscriptionId, (subscription) => {
    const entries = Object.entries(subscription.tagNames ?? {});
    const there = entries.find(([other]) => foldCase(other) === foldCase(name));
    const values = change(there?.[1]);
    outcome = { created: there === undefined, values };
    const others = entries.filter((entry) => entry !== there);
    if (there === undefined && values !== undefined && others.length >= maxNames)
      throw new ArmError(409, 'TooManyTagNames', `A subscription may have ${maxNames} tag names made in advance.`);
    const kept = values === undefined ? [] : [[there?.[0] ?? name, values] as const];
    return { ...subscription, tagNames: Object.fromEntries([...others, ...kept]) };
  });
  return { subscriptionId, ...outcome };
}

function shownName(subscriptionId: string, name: string, values: readonly string[]) {
  return {
    id: `/subscriptions/${subscriptionId}/tagNames/${name}`,
    tagName: name,
    count: { type: 'Total', value: 0 },
    values: values.map((value) => shownValue(subscriptionId, name, value)),
  };
}

function shownValue(subscriptionId: string, name: string, value: string) {
  return {
    id: `/subscriptions/${subscriptionId}/tagNames/${name}/tagValues/${value}`,
    tagValue: value,
    count: { type: 'Total', value: 0 },
  };
}

export const tagRoutes: readonly ArmRoute[] = [...scopedRoutes, ...nameRoutes];
