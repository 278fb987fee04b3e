// What is sent for a resource of a template: its members, evaluated, without those that say how and when to deploy it.
import { foldCase } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import { isObject, memberOf } from '../expressions/values.ts';
import type { TemplateContext, TemplateEnvironment } from './context.ts';
import { isInner, type Locate } from './dependencies.ts';
import { closeTemplate } from './partial.ts';
import type { PlannedResource } from './plan.ts';

const deploymentMembers = new Set([
  'type',
  'name',
  'apiversion',
  'condition',
  'copy',
  'dependson',
  'comments',
  'metadata',
  'resources',
  'scope',
  'existing',
  'subscriptionid',
  'resourcegroup',
  'import',
  'asserts',
]);

export const deploymentType = 'microsoft.resources/deployments';

export interface RawBody {
  /** To be evaluated. */
  readonly members: JsonObject;
  /** A nested template, as it is to be sent: nothing of it is evaluated any more. */
  readonly template?: Json;
}

/** The members of a resource that go into its body. Throws TemplateError. */
export function rawBody(
  resource: PlannedResource,
  context: TemplateContext,
  environment: TemplateEnvironment,
  resources: readonly PlannedResource[],
  locate: Locate,
): RawBody {
  const members = Object.fromEntries(
    Object.entries(resource.body).filter(([name]) => !deploymentMembers.has(foldCase(name))),
  );
  const properties = memberOf(members, 'properties');
  if (foldCase(resource.type) !== deploymentType || !isObject(properties)) return { members };
  const template = memberOf(properties, 'template');
  if (!isObject(template)) return { members };
  const rest = Object.fromEntries(Object.entries(properties).filter(([name]) => foldCase(name) !== 'template'));
  return {
    members: { ...members, properties: rest },
    template: isInner(properties)
      ? template
      : closeTemplate(template, { template: context.template, environment, resources, locate }),
  };
}

/** The evaluated members with the nested template put back; members that are null at the top are left out. */
export function finishedBody(evaluated: Json, raw: RawBody): JsonObject {
  const members = isObject(evaluated) ? evaluated : {};
  const present = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
  if (raw.template === undefined) return present;
  const properties = isObject(present.properties) ? present.properties : {};
  return { ...present, properties: { ...properties, template: raw.template } };
}
