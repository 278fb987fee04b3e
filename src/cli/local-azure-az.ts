// A cloud in the files that the Azure CLI keeps in its configuration directory, and in the form that `az cloud register` reads.

/** What of `/metadata/endpoints` (2022-09-01) is used. */
export interface CloudMetadata {
  readonly name: string;
  readonly authentication: {
    readonly loginEndpoint: string;
    readonly audiences: readonly string[];
    readonly tenant: string;
  };
  readonly resourceManager: string;
  readonly microsoftGraphResourceId: string;
  readonly graphAudience: string;
  readonly portal: string;
  readonly gallery: string;
  readonly batch: string;
  readonly media: string;
  readonly sqlManagement: string;
  readonly activeDirectoryDataLake: string;
  readonly vmImageAliasDoc: string;
  readonly suffixes: { readonly [name: string]: string };
}

export interface Subscription {
  readonly subscriptionId: string;
  readonly displayName: string;
  readonly state: string;
}

export interface ServicePrincipalLogin {
  readonly tenant: string;
  readonly clientId: string;
  readonly secret: string;
}

/** For `az cloud register --cloud-config @file`. */
export function cloudConfig(metadata: CloudMetadata): object {
  const { endpoints, suffixes } = azCloud(metadata);
  return { endpoints: camelCased(endpoints), suffixes: camelCased(suffixes) };
}

/** The files by name. With these az has the cloud, has chosen it and is signed in to it. */
export function azFiles(
  metadata: CloudMetadata,
  login: ServicePrincipalLogin,
  subscriptions: readonly Subscription[],
  installationId: string,
): { readonly [file: string]: string } {
  const { endpoints, suffixes } = azCloud(metadata);
  return {
    'clouds.config': ini({
      [metadata.name]: { profile: 'latest', ...prefixed('endpoint_', endpoints), ...prefixed('suffix_', suffixes) },
    }),
    config: ini({
      cloud: { name: metadata.name },
      core: {
        // This cloud's login endpoint is none that Microsoft's directory of clouds knows.
        instance_discovery: 'false',
        // Where tokens are kept encrypted, az looks for the service principal's secret there and not in the file beside.
        encrypt_token_cache: 'false',
        collect_telemetry: 'false',
        first_run: 'no',
        survey_message: 'false',
        login_experience_v2: 'off',
      },
      'auto-upgrade': { enable: 'no' },
    }),
    'service_principal_entries.json': json([
      { client_id: login.clientId, tenant: login.tenant, client_secret: login.secret },
    ]),
    'azureProfile.json': json({
      installationId,
      subscriptions: subscriptions.map(({ subscriptionId, displayName, state }, at) => ({
        id: subscriptionId,
        name: displayName,
        state,
        user: { name: login.clientId, type: 'servicePrincipal' },
        isDefault: at === 0,
        tenantId: login.tenant,
        environmentName: metadata.name,
        homeTenantId: login.tenant,
        managedByTenants: [],
      })),
    }),
  };
}

type Names = { readonly [name: string]: string };

function azCloud(metadata: CloudMetadata): { readonly endpoints: Names; readonly suffixes: Names } {
  const { authentication, suffixes } = metadata;
  const audience = authentication.audiences[0] ?? metadata.resourceManager;
  const of = (name: string): string => suffixes[name] ?? '';
  const dotted = (name: string): string => `.${of(name)}`;
  return {
    endpoints: {
      management: audience,
      resource_manager: metadata.resourceManager,
      active_directory: authentication.loginEndpoint.replace(/\/$/, ''),
      active_directory_resource_id: audience,
      active_directory_graph_resource_id: metadata.graphAudience,
      active_directory_data_lake_resource_id: metadata.activeDirectoryDataLake,
      microsoft_graph_resource_id: metadata.microsoftGraphResourceId,
      batch_resource_id: metadata.batch,
      gallery: metadata.gallery,
      media_resource_id: metadata.media,
      portal: metadata.portal,
      sql_management: metadata.sqlManagement,
      vm_image_alias_doc: metadata.vmImageAliasDoc,
    },
    suffixes: {
      acr_login_server_endpoint: dotted('acrLoginServer'),
      attestation_endpoint: dotted('attestationEndpoint'),
      keyvault_dns: dotted('keyVaultDns'),
      mhsm_dns: dotted('mhsmDns'),
      mysql_server_endpoint: dotted('mysqlServerEndpoint'),
      postgresql_server_endpoint: dotted('postgresqlServerEndpoint'),
      sql_server_hostname: dotted('sqlServerHostname'),
      storage_endpoint: of('storage'),
      storage_sync_endpoint: of('storageSyncEndpointSuffix'),
      synapse_analytics_endpoint: dotted('synapseAnalytics'),
    },
  };
}

/** `az cloud register` names in camel case what az keeps in snake case. */
function camelCased(names: Names): Names {
  const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(names).map(([name, value]) => [camel(name), value]));
}

function prefixed(prefix: string, names: Names): Names {
  return Object.fromEntries(Object.entries(names).map(([name, value]) => [`${prefix}${name}`, value]));
}

/** As Python's configparser reads it; `%` would begin an interpolation. */
function ini(sections: { readonly [section: string]: Names }): string {
  return Object.entries(sections)
    .map(([section, values]) => {
      const lines = Object.entries(values).map(([name, value]) => `${name} = ${value.replaceAll('%', '%%')}\n`);
      return `[${section}]\n${lines.join('')}`;
    })
    .join('\n');
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
