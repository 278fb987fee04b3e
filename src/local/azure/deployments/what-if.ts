// What a deployment would change, without changing anything.
import { ArmError, errorBody } from '../../../arm/errors.ts';
import { foldCase, idKey } from '../../../arm/resource-id.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import type { ArmResource, Json, JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import type { Budget } from './expressions/budget.ts';
import { expressionFailed, TemplateError } from './expressions/template-error.ts';
import { equal, isArray, isObject } from './expressions/values.ts';
import { others } from './run/complete-mode.ts';
import type { Mode } from './run/intent.ts';
import type { PreparedDeployment } from './run/prepared.ts';
import type { Progress } from './run/progress.ts';
import { resourceReader } from './run/read-resource.ts';
import { createContext, type TemplateContext } from './template/context.ts';
import { evaluateNow } from './template/late.ts';
import { isSecure } from './template/parameters.ts';
import type { PlannedResource } from './template/plan.ts';
import { deploymentType, finishedBody, rawBody } from './template/resource-body.ts';
import { fetchKey, runtimeFunctions } from './template/runtime-functions.ts';
import { scopeText } from './template/scope.ts';

type ChangeType = 'Create' | 'Delete' | 'Ignore' | 'Deploy' | 'NoChange' | 'Modify';

export interface WhatIfRequest {
  readonly world: World;
  readonly progress: Progress;
  readonly prepared: PreparedDeployment;
  readonly caller: CallerIdentity;
  readonly mode: Mode;
  /** `ResourceIdOnly` tells only which resources would be deployed. */
  readonly idsOnly: boolean;
}

/** The changes, in the order of ids. Throws ArmError when the template cannot be evaluated. */
export async function whatIf(request: WhatIfRequest): Promise<readonly JsonObject[]> {
  const { world, progress, prepared, mode, idsOnly } = request;
  const deployed = prepared.plan.resources.filter(({ wanted, existing }) => wanted && !existing);
  const changes: JsonObject[] = [];
  for (const resource of deployed) {
    if (foldCase(resource.type) === deploymentType) continue;
    changes.push(idsOnly ? { resourceId: resource.id.text, changeType: 'Deploy' } : await changeOf(request, resource));
  }
  const { scope } = prepared.context.place;
  if (scope.kind === 'resourceGroup') {
    const changeType: ChangeType = mode === 'Complete' ? 'Delete' : 'Ignore';
    for (const { resource } of await others(world, progress, scopeText(scope), deployed)) {
      changes.push({ resourceId: resource.id, changeType, ...(idsOnly ? {} : { before: resource }) });
    }
  }
  return changes.sort((a, b) => (idKey(String(a.resourceId)) < idKey(String(b.resourceId)) ? -1 : 1));
}

async function changeOf(request: WhatIfRequest, resource: PlannedResource): Promise<JsonObject> {
  const { world, prepared } = request;
  const { id, type, apiVersion } = resource;
  const body = await predictedBody(request, resource);
  const after: JsonObject = { apiVersion, id: id.text, name: id.name, type, ...body };
  const document = await world.resources.read(id.key);
  if (document === undefined) return { resourceId: id.text, changeType: 'Create', after };
  const before: ArmResource = await world.resources.view(document.body);
  const delta = deltaOf(before, body, '', prepared.context.budget, 0);
  const changeType: ChangeType = delta.length === 0 ? 'NoChange' : 'Modify';
  return { resourceId: id.text, changeType, before: { apiVersion, ...before }, after: { ...before, ...after }, delta };
}

/** Evaluated as far as resources that exist allow; what depends on others stays an expression. */
async function predictedBody(
  { world, prepared, caller }: WhatIfRequest,
  resource: PlannedResource,
): Promise<JsonObject> {
  const { plan, locate } = prepared;
  const context = maskedContext(prepared);
  const fetched = new Map<string, Json>();
  const environment = context.environment(resource.loops, runtimeFunctions(plan.resources, locate, fetched));
  const read = resourceReader(world, caller);
  try {
    const raw = rawBody(resource, context, environment, plan.resources, locate);
    for (let round = 0; ; round++) {
      const { made, missing } = evaluateNow(raw.members, environment);
      let found = 0;
      for (const fetch of missing.values()) {
        // Secrets of actions are not read for a forecast.
        if (fetch.kind === 'list' || (await world.resources.read(fetch.id.key)) === undefined) continue;
        fetched.set(fetchKey(fetch), await read(fetch));
        found++;
      }
      if (found === 0 || round === 8) return finishedBody(made, raw);
    }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    // Something is worked out of a secret: nothing of it can be told.
    if (hasSecrets(prepared)) return {};
    throw expressionFailed(`resource '${resource.id.text}'`, error.message);
  }
}

const mask = '*******';

function hasSecrets({ parameters }: PreparedDeployment): boolean {
  return parameters.some(({ type }) => isSecure(type));
}

/** The template with stars for the values of secure parameters: what is made of them is no secret either. */
function maskedContext({ context, parameters, deployment }: PreparedDeployment): TemplateContext {
  const { template, place, budget } = context;
  const values = parameters.map(({ name, type, value }): [string, Json] => [
    foldCase(name),
    isSecure(type) ? masked(value) : value,
  ]);
  return createContext({ template, place, budget, deployment, parameters: new Map(values) });
}

function masked(value: Json): Json {
  if (isArray(value)) return value.map(masked);
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, masked(one ?? null)]));
  return typeof value === 'string' ? mask : value;
}

/** What members of a body change in a resource. Members that only the resource has are the provider's: they stay. */
function deltaOf(
  before: JsonObject,
  after: JsonObject,
  path: string,
  budget: Budget,
  depth: number,
): readonly JsonObject[] {
  const delta: JsonObject[] = [];
  for (const [name, next] of Object.entries(after)) {
    const at = path === '' ? name : `${path}.${name}`;
    const value = next ?? null;
    const there = before[name];
    budget.spend(1);
    // An expression that is left over says nothing about a change, nor does a secret.
    if (typeof value === 'string' && ((value.startsWith('[') && value.endsWith(']')) || value === mask)) continue;
    if (there === undefined) {
      if (value !== null) delta.push({ path: at, propertyChangeType: 'Create', after: value });
    } else if (name === 'location' && depth === 0 && samePlace(there, value)) {
    } else if (isObject(there) && isObject(value) && depth < 64) {
      const children = deltaOf(there, value, at, budget, depth + 1);
      delta.push(...children);
    } else if (isArray(there) && isArray(value)) {
      const children = arrayDelta(there, value, budget, depth);
      if (children.length > 0)
        delta.push({ path: at, propertyChangeType: 'Array', before: there, after: value, children });
    } else if (!equal(there, value, budget)) {
      delta.push({ path: at, propertyChangeType: 'Modify', before: there, after: value });
    }
  }
  return delta;
}

function arrayDelta(
  before: readonly Json[],
  after: readonly Json[],
  budget: Budget,
  depth: number,
): readonly JsonObject[] {
  const children: JsonObject[] = [];
  for (let at = 0; at < Math.max(before.length, after.length); at++) {
    const there = before[at];
    const value = after[at];
    const path = String(at);
    if (there === undefined) children.push({ path, propertyChangeType: 'Create', after: value ?? null });
    else if (value === undefined) children.push({ path, propertyChangeType: 'Delete', before: there });
    else if (isObject(there) && isObject(value) && depth < 64) {
      const inner = deltaOf(there, value, '', budget, depth + 1);
      if (inner.length > 0)
        children.push({ path, propertyChangeType: 'Modify', before: there, after: value, children: inner });
    } else if (!equal(there, value, budget))
      children.push({ path, propertyChangeType: 'Modify', before: there, after: value });
  }
  return children;
}

function samePlace(a: Json, b: Json): boolean {
  const plain = (value: Json): string => String(value).replaceAll(' ', '').toLowerCase();
  return plain(a) === plain(b);
}

/** The whole answer: problems of the template are told in it, as Azure does. */
export async function whatIfAnswer(
  correlationId: string,
  run: () => Promise<readonly JsonObject[]>,
): Promise<JsonObject> {
  try {
    return { status: 'Succeeded', properties: { correlationId, changes: await run() } };
  } catch (error) {
    if (!(error instanceof ArmError) || error.status === 404 || error.status === 403) throw error;
    return { status: 'Failed', error: errorBody(error) as unknown as JsonObject };
  }
}
