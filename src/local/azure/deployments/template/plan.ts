// What a template deploys: its resources with their ids, each copy by itself, and which waits for which.
import { foldCase, parseResourceId, type ResourceId } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import { evaluateText } from '../expressions/evaluate.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { isObject, memberOf } from '../expressions/values.ts';
import { type Loops, noLoops, type TemplateContext, type TemplateEnvironment } from './context.ts';
import { connect } from './dependencies.ts';
import { loopCount, textMember } from './evaluate-tree.ts';
import { templateResourceId } from './resource-ids.ts';
import { type DeploymentScope, parseScope, scopeText } from './scope.ts';
import { limits, readResources, type TemplateResource, tooManyResources } from './template.ts';

export interface PlannedResource {
  readonly id: ResourceId;
  /** As the template names it: `net/subnet`. */
  readonly name: string;
  readonly type: string;
  readonly apiVersion: string;
  readonly symbol?: string;
  /** Set for a copy: the loop's name, and which of it this is. */
  readonly copy?: { readonly name: string; readonly index: number; readonly batchSize?: number };
  /** False when its condition says that it shall not be deployed. */
  readonly wanted: boolean;
  /** Read, not written. */
  readonly existing: boolean;
  /** As in the template, not evaluated. */
  readonly body: JsonObject;
  readonly loops: Loops;
}

export interface Plan {
  readonly resources: readonly PlannedResource[];
  /** For each resource, by its place in `resources`, the places of those it waits for. */
  readonly waits: readonly ReadonlySet<number>[];
}

interface Parent {
  readonly name: string;
  readonly type: string;
  readonly scope: string;
}

/** Expands loops and children, works out ids and dependencies. Throws TemplateError. */
export function planResources(context: TemplateContext): Plan {
  const resources: PlannedResource[] = [];
  for (const resource of context.template.resources) expand(resource, context, noLoops, undefined, resources, 0);
  const seen = new Map<string, PlannedResource>();
  for (const resource of resources) {
    const before = resource.existing || !resource.wanted ? undefined : seen.get(resource.id.key);
    if (before !== undefined) {
      throw new TemplateError(
        `The resource '${resource.id.text}' is defined multiple times in a template. Please see https://aka.ms/arm-syntax-resources for usage details`,
      );
    }
    if (!resource.existing && resource.wanted) seen.set(resource.id.key, resource);
  }
  return { resources, waits: connect(resources, context) };
}

function expand(
  { body, symbol }: TemplateResource,
  context: TemplateContext,
  loops: Loops,
  parent: Parent | undefined,
  into: PlannedResource[],
  depth: number,
): void {
  const add = (within: Loops, copy?: PlannedResource['copy']): void => {
    const environment = context.environment(within);
    const planned = planOne(body, context, environment, parent, {
      ...(symbol === undefined ? {} : { symbol }),
      ...(copy === undefined ? {} : { copy }),
    });
    if (into.length >= limits.resources) throw tooManyResources(into.length + 1);
    into.push(planned.resource);
    for (const child of readResources(memberOf(body, 'resources'), depth + 1)) {
      expand(child, context, within, planned.asParent, into, depth + 1);
    }
  };
  const copy = memberOf(body, 'copy');
  if (copy === undefined || copy === null) {
    add(loops);
    return;
  }
  if (!isObject(copy))
    throw new TemplateError(
      "The 'copy' of a resource is not an object. Please see https://aka.ms/arm-copy for usage details",
    );
  const environment = context.environment(loops);
  const name = textMember(copy, 'name', environment) ?? symbol;
  if (name === undefined)
    throw new TemplateError(
      "The 'copy' of a resource has no 'name'. Please see https://aka.ms/arm-copy for usage details",
    );
  const count = loopCount(memberOf(copy, 'count'), environment);
  const batchSize = batchSizeOf(copy, environment);
  for (let index = 0; index < count; index++) {
    const within = new Map(loops).set(foldCase(name), index).set('', index);
    add(within, { name, index, ...(batchSize === undefined ? {} : { batchSize }) });
  }
}

/** Undefined when all copies go at once. */
function batchSizeOf(copy: JsonObject, environment: TemplateEnvironment): number | undefined {
  const mode = textMember(copy, 'mode', environment);
  if (mode === undefined || foldCase(mode) === 'parallel') return undefined;
  if (foldCase(mode) !== 'serial')
    throw new TemplateError(`The copy mode '${mode.slice(0, 40)}' is not valid. It is 'serial' or 'parallel'`);
  const given = memberOf(copy, 'batchSize') ?? 1;
  const size = typeof given === 'string' ? evaluateText(given, environment) : given;
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 1)
    throw new TemplateError('The copy batchSize is not a positive integer');
  return size;
}

function planOne(
  body: JsonObject,
  context: TemplateContext,
  environment: TemplateEnvironment,
  parent: Parent | undefined,
  more: Pick<PlannedResource, 'symbol' | 'copy'>,
): { readonly resource: PlannedResource; readonly asParent: Parent } {
  const ownType = textMember(body, 'type', environment);
  const ownName = textMember(body, 'name', environment);
  const shown = ownName ?? more.symbol ?? '';
  if (ownType === undefined || ownName === undefined || ownName === '') {
    throw new TemplateError(
      `The template resource '${shown}' is not valid: the required member '${ownType === undefined ? 'type' : 'name'}' is missing. Please see https://aka.ms/arm-syntax-resources for usage details`,
    );
  }
  const apiVersion = textMember(body, 'apiVersion', environment);
  if (apiVersion === undefined) {
    throw new TemplateError(
      `The template resource '${shown}' is not valid: the required member 'apiVersion' is missing. Please see https://aka.ms/arm-syntax-resources for usage details`,
    );
  }
  const nested = parent !== undefined && !foldCase(ownType).startsWith(`${foldCase(parent.type)}/`);
  const type = nested ? `${parent.type}/${ownType}` : ownType;
  const name = nested ? `${parent.name}/${ownName}` : ownName;
  const scope = parent?.scope ?? scopeOf(body, type, context, environment);
  const text = templateResourceId(scope, type, name);
  const parsed = parseResourceId(text);
  if (!parsed.ok)
    throw new TemplateError(`The template resource '${name}' of type '${type}' is not valid: ${parsed.message}`);
  const condition = memberOf(body, 'condition') ?? true;
  const wanted: Json = typeof condition === 'string' ? evaluateText(condition, environment) : condition;
  if (typeof wanted !== 'boolean') {
    throw new TemplateError(
      `The template resource '${name}' is not valid: the 'condition' is not a boolean. Please see https://aka.ms/arm-syntax-resources for usage details`,
    );
  }
  const existing = memberOf(body, 'existing') === true;
  return {
    resource: { ...more, id: parsed.id, name, type, apiVersion, wanted, existing, body, loops: environment.loops },
    asParent: { name, type, scope },
  };
}

/** Where a resource of the template goes: its `scope`, for deployments their subscription and group, else where the deployment is. */
function scopeOf(body: JsonObject, type: string, context: TemplateContext, environment: TemplateEnvironment): string {
  const own = context.place.scope;
  const given = textMember(body, 'scope', environment);
  if (given !== undefined) {
    if (given === '/' || given === '') return '';
    if (given.startsWith('/')) return given.replace(/\/+$/, '');
    const asScope = parseScope(`/providers/${given}`);
    return asScope === undefined ? `${scopeText(own)}/providers/${given}` : scopeText(asScope);
  }
  if (foldCase(type) === 'microsoft.resources/deployments' || memberOf(body, 'existing') === true) {
    return scopeText(
      deploymentTarget(
        own,
        textMember(body, 'subscriptionId', environment),
        textMember(body, 'resourceGroup', environment),
      ),
    );
  }
  if (own.kind === 'managementGroup' && foldCase(type).startsWith('microsoft.management/managementgroups')) return '';
  return scopeText(own);
}

function deploymentTarget(
  own: DeploymentScope,
  subscription: string | undefined,
  group: string | undefined,
): DeploymentScope {
  const inherited = own.kind === 'subscription' || own.kind === 'resourceGroup' ? own.subscriptionId : undefined;
  const subscriptionId = subscription ?? inherited;
  if (subscriptionId === undefined) {
    if (group !== undefined)
      throw new TemplateError("A nested deployment with a 'resourceGroup' needs a 'subscriptionId' at this scope");
    return own;
  }
  if (group !== undefined) return { kind: 'resourceGroup', subscriptionId, resourceGroup: group };
  return subscription === undefined ? own : { kind: 'subscription', subscriptionId };
}
