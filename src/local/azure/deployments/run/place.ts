// The place of a deployment, as the functions of templates tell it.
import { ArmError } from '../../../../arm/errors.ts';
import { foldCase, parseResourceId } from '../../../../arm/resource-id.ts';
import { dataPlaneLabels } from '../../cloud.ts';
import type { CallerIdentity } from '../../kernel/provider.ts';
import type { JsonObject } from '../../kernel/record.ts';
import type { World } from '../../kernel/world.ts';
import type { Place } from '../template/context.ts';
import { type DeploymentScope, scopeText } from '../template/scope.ts';

/** Throws ArmError when the subscription or the group is not there. */
export async function placeOf(world: World, scope: DeploymentScope, caller: CallerIdentity): Promise<Place> {
  const tenantId = world.directory.tenantId;
  const common = {
    scope,
    tenant: { tenantId, countryCode: 'US', displayName: world.cloud.name },
    deployer: {
      objectId: caller.objectId,
      tenantId: caller.tenantId,
      userPrincipalName: caller.kind === 'User' ? (caller.name ?? '') : '',
    },
    environment: environmentOf(world, tenantId),
    typesOf: (namespace: string) => typesOf(world, namespace),
    hasZones: (location: string) => world.cloud.locations.some(({ name, zones }) => zones && name === location),
  };
  if (scope.kind === 'tenant') return common;
  if (scope.kind === 'managementGroup') {
    const name = scope.managementGroup;
    const managementGroup = {
      id: scopeText(scope),
      name,
      type: '/providers/Microsoft.Management/managementGroups',
      properties: { tenantId, displayName: name },
    };
    return { ...common, managementGroup };
  }
  const found = world.subscriptions.find(scope.subscriptionId);
  if (found === undefined) {
    throw new ArmError(404, 'SubscriptionNotFound', `The subscription '${scope.subscriptionId}' could not be found.`);
  }
  const subscription = {
    id: `/subscriptions/${found.subscriptionId}`,
    subscriptionId: found.subscriptionId,
    tenantId: found.tenantId,
    displayName: found.displayName,
  };
  if (scope.kind === 'subscription') return { ...common, subscription };
  return { ...common, subscription, resourceGroup: await groupOf(world, scope) };
}

function typesOf({ providers, cloud }: World, namespace: string): readonly JsonObject[] | undefined {
  const wanted = foldCase(namespace);
  const found = providers.filter((provider) => foldCase(provider.namespace) === wanted);
  if (found.length === 0) return undefined;
  return found.flatMap(({ types }) =>
    types.map(({ type, apiVersions, location }) => ({
      resourceType: type,
      locations: location === 'required' ? cloud.locations.map(({ displayName }) => displayName) : [],
      apiVersions,
    })),
  );
}

async function groupOf(world: World, scope: Extract<DeploymentScope, { kind: 'resourceGroup' }>): Promise<JsonObject> {
  const parsed = parseResourceId(scopeText(scope));
  const document = parsed.ok ? await world.resources.read(parsed.id.key) : undefined;
  if (document === undefined) {
    throw new ArmError(404, 'ResourceGroupNotFound', `Resource group '${scope.resourceGroup}' could not be found.`);
  }
  const { id, name, location, tags } = document.body.resource;
  return {
    id,
    name,
    type: 'Microsoft.Resources/resourceGroups',
    ...(location === undefined ? {} : { location }),
    ...(tags === undefined ? {} : { tags }),
    properties: { provisioningState: 'Succeeded' },
  };
}

function environmentOf({ cloud }: World, tenantId: string): JsonObject {
  const { origin, suffix, name } = cloud;
  return {
    name,
    gallery: `${origin}/`,
    graph: `${origin}/`,
    portal: `${origin}/`,
    graphAudience: `${origin}/`,
    activeDirectoryDataLake: `${origin}/`,
    batch: `${origin}/`,
    media: `${origin}/`,
    sqlManagement: `${origin}/`,
    vmImageAliasDoc: `${origin}/`,
    resourceManager: `${origin}/`,
    authentication: {
      loginEndpoint: `${origin}/`,
      audiences: [`${origin}/`],
      tenant: tenantId,
      identityProvider: 'AAD',
    },
    suffixes: {
      acrLoginServer: `.${dataPlaneLabels.registry}.${suffix}`,
      azureDatalakeAnalyticsCatalogAndJob: `datalakeanalytics.${suffix}`,
      azureDatalakeStoreFileSystem: `datalakestore.${suffix}`,
      azureFrontDoorEndpointSuffix: `${dataPlaneLabels.frontDoor}.${suffix}`,
      keyvaultDns: `.${dataPlaneLabels.vault}.${suffix}`,
      sqlServerHostname: `.database.${suffix}`,
      storage: `storage.${suffix}`,
    },
  };
}
