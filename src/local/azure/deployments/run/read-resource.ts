// Values of resources for `reference` and `list…`, with the rights of the one who deploys.
import { ArmError } from '../../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../../arm/resource-id.ts';
import type { Action, CallerIdentity } from '../../kernel/provider.ts';
import type { ArmResource, Json, JsonObject } from '../../kernel/record.ts';
import type { World } from '../../kernel/world.ts';
import { isObject } from '../expressions/values.ts';
import type { Reader } from '../template/late.ts';
import type { Fetch } from '../template/runtime-functions.ts';

export function resourceReader(world: World, caller: CallerIdentity): Reader {
  return async (fetch) => {
    if (fetch.kind === 'reference') {
      await world.access.demand(caller, `${fetch.id.type}/read`, fetch.id.text);
      return referred(await world.resources.show(fetch.id, fetch.apiVersion), fetch);
    }
    return await listed(world, caller, fetch);
  };
}

function referred(resource: ArmResource, { id, apiVersion, full }: Extract<Fetch, { kind: 'reference' }>): Json {
  if (!full) return resource.properties ?? {};
  const { id: _, name: __, type: ___, ...rest } = resource;
  return {
    apiVersion,
    ...rest,
    properties: resource.properties ?? {},
    resourceId: relativeId(id),
    ...(id.subscriptionId === undefined ? {} : { subscriptionId: id.subscriptionId }),
    ...(id.resourceGroup === undefined ? {} : { resourceGroupName: id.resourceGroup }),
    scope: '',
    referenceApiVersion: apiVersion,
    condition: true,
    isConditionTrue: true,
    isTemplateResource: false,
    isAction: false,
    provisioningOperation: 'Read',
  };
}

function relativeId(id: ResourceId): string {
  const at = id.key.lastIndexOf('/providers/');
  return at === -1 ? id.text : id.text.slice(at + '/providers/'.length);
}

async function listed(world: World, caller: CallerIdentity, fetch: Extract<Fetch, { kind: 'list' }>): Promise<Json> {
  const { id, action, apiVersion } = fetch;
  const known = actionOf(world, id, action);
  if (known === undefined) {
    throw new ArmError(
      400,
      'InvalidTemplate',
      `The function '${action}' is not an action of resources of type '${id.type}'.`,
    );
  }
  await world.access.demand(caller, known.action ?? `${id.type}/${action}/action`, id.text);
  const body: JsonObject | undefined = isObject(fetch.body) ? fetch.body : undefined;
  const { result } = await world.resources.act(id, foldCase(action), { apiVersion, body, query: {}, caller });
  return result ?? null;
}

function actionOf({ providers }: World, id: ResourceId, action: string): Action | undefined {
  const wanted = foldCase(id.type);
  for (const { namespace, types } of providers) {
    for (const { type, actions } of types) {
      if (foldCase(`${namespace}/${type}`) === wanted && actions && Object.hasOwn(actions, foldCase(action)))
        return actions[foldCase(action)];
    }
  }
  return undefined;
}
