// `/metadata/endpoints`: how clients find the other services of a cloud when they are told only where Resource Manager is.
import type { FastifyInstance } from 'fastify';
import { type Cloud, dataPlaneLabels } from '../cloud.ts';

/** No token is asked for: clients call this before they have one. */
export function metadataRoutes(app: FastifyInstance, cloud: Cloud, tenantId: string): void {
  app.get('/metadata/endpoints', async (request, reply) => {
    const version = (request.query as { readonly [name: string]: unknown })['api-version'];
    const document = typeof version === 'string' ? documents[version] : undefined;
    if (document) return document(cloud, tenantId);
    const supported = Object.keys(documents).join(',');
    const error =
      version === undefined
        ? {
            code: 'MissingApiVersionParameter',
            message: 'The api-version query parameter (?api-version=) is required for all requests.',
          }
        : {
            code: 'InvalidApiVersionParameter',
            message: `The api-version is invalid. The supported versions are '${supported}'.`,
          };
    return reply.code(400).send({ error });
  });
}

type Document = (cloud: Cloud, tenantId: string) => unknown;

const documents: { readonly [apiVersion: string]: Document } = {
  '2015-01-01': oldest,
  '2015-11-01': oldest,
  '2019-05-01': inList,
  '2019-10-01': inList,
  '2020-06-01': inList,
  '2022-09-01': newest,
};

function oldest(cloud: Cloud, tenantId: string): unknown {
  const { authentication, gallery } = common(cloud, tenantId);
  return {
    galleryEndpoint: gallery,
    graphEndpoint: graphOf(cloud),
    portalEndpoint: cloud.origin,
    authentication: { loginEndpoint: authentication.loginEndpoint, audiences: authentication.audiences },
  };
}

function newest(cloud: Cloud, tenantId: string): unknown {
  return {
    ...common(cloud, tenantId),
    portal: cloud.origin,
    graphAudience: graphOf(cloud),
    graph: graphOf(cloud),
    name: cloud.name,
    suffixes: suffixes(cloud),
    batch: `https://batch.${cloud.suffix}/`,
    resourceManager: `${cloud.origin}/`,
    vmImageAliasDoc: `${cloud.origin}/_documents/aliases.json`,
    activeDirectoryDataLake: `https://datalake.${cloud.suffix}/`,
    sqlManagement: `https://sql-management.${cloud.suffix}/`,
    microsoftGraphResourceId: graphOf(cloud),
    appInsightsResourceId: `https://api.applicationinsights.${cloud.suffix}`,
    appInsightsTelemetryChannelResourceId: `https://dc.applicationinsights.${cloud.suffix}/v2/track`,
    attestationResourceId: `https://attest.${cloud.suffix}`,
    synapseAnalyticsResourceId: `https://dev.azuresynapse.${cloud.suffix}`,
    logAnalyticsResourceId: `https://api.loganalytics.${cloud.suffix}`,
    ossrDbmsResourceId: `https://ossrdbms-aad.database.${cloud.suffix}`,
  };
}

/** A list of clouds: clients look for theirs by its name or its Resource Manager. */
function inList(cloud: Cloud, tenantId: string): unknown {
  return [newest(cloud, tenantId)];
}

/** By its own name, through the proxy: clients take it for the audience of tokens as well, which must not be Resource Manager's. */
function graphOf({ suffix }: Cloud): string {
  return `https://graph.${suffix}/`;
}

function common(cloud: Cloud, tenantId: string) {
  return {
    authentication: {
      loginEndpoint: `${cloud.origin}/`,
      audiences: [`${cloud.origin}/`, `https://management.${cloud.suffix}/`],
      tenant: tenantId,
      identityProvider: 'AAD',
    },
    media: `https://rest.media.${cloud.suffix}`,
    gallery: `https://gallery.${cloud.suffix}/`,
  };
}

function suffixes({ suffix }: Cloud) {
  return {
    keyVaultDns: `${dataPlaneLabels.vault}.${suffix}`,
    storage: `storage.${suffix}`,
    acrLoginServer: `${dataPlaneLabels.registry}.${suffix}`,
    azureFrontDoorEndpointSuffix: `${dataPlaneLabels.frontDoor}.${suffix}`,
    postgresqlServerEndpoint: `${dataPlaneLabels.postgres}.${suffix}`,
    mysqlServerEndpoint: `mysql.database.${suffix}`,
    mariadbServerEndpoint: `mariadb.database.${suffix}`,
    sqlServerHostname: `database.${suffix}`,
    azureDataLakeStoreFileSystem: `datalakestore.${suffix}`,
    azureDataLakeAnalyticsCatalogAndJob: `datalakeanalytics.${suffix}`,
    storageSyncEndpointSuffix: `afs.${suffix}`,
    mhsmDns: `managedhsm.${suffix}`,
    synapseAnalytics: `dev.azuresynapse.${suffix}`,
    attestationEndpoint: `attest.${suffix}`,
  };
}
