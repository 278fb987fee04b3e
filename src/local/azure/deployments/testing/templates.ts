// Templates for tests, from the parts that matter to them.
import type { Json, JsonObject } from '../../kernel/record.ts';
import { apiVersion } from './cloud.ts';

const schemas = {
  group: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
  subscription: 'https://schema.management.azure.com/schemas/2018-05-01/subscriptionDeploymentTemplate.json#',
  tenant: 'https://schema.management.azure.com/schemas/2019-08-01/tenantDeploymentTemplate.json#',
  managementGroup: 'https://schema.management.azure.com/schemas/2019-08-01/managementGroupDeploymentTemplate.json#',
} as const;

export function template(resources: Json, more: JsonObject = {}, scope: keyof typeof schemas = 'group'): JsonObject {
  return { $schema: schemas[scope], contentVersion: '1.0.0.0', ...more, resources };
}

export function thing(type: string, name: string, more: JsonObject = {}): JsonObject {
  return { type: `Microsoft.Test/${type}`, apiVersion, name, location: '[resourceGroup().location]', ...more };
}

export function nested(
  name: string,
  inner: JsonObject,
  more: JsonObject = {},
  properties: JsonObject = {},
): JsonObject {
  return {
    type: 'Microsoft.Resources/deployments',
    apiVersion: '2022-09-01',
    name,
    ...more,
    properties: { mode: 'Incremental', template: inner, ...properties },
  };
}

/** For nested deployments that see their own parameters alone. */
export const inner = { expressionEvaluationOptions: { scope: 'inner' } };
