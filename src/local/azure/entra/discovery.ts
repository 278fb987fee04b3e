// The documents by which clients find the endpoints and keys.
import { aadsts } from './aadsts.ts';
import { type Entra, issuerBases, loginHost } from './context.ts';
import type { Tenant } from './directory-objects.ts';
import { issuerOf } from './tokens.ts';

const shared = {
  token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
  response_modes_supported: ['query', 'fragment', 'form_post'],
  subject_types_supported: ['pairwise'],
  id_token_signing_alg_values_supported: ['RS256'],
  response_types_supported: ['code'],
  scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
  code_challenge_methods_supported: ['S256'],
  grant_types_supported: [
    'authorization_code',
    'client_credentials',
    'refresh_token',
    'password',
    'urn:ietf:params:oauth:grant-type:device_code',
  ],
  claims_supported: [
    'sub',
    'iss',
    'aud',
    'exp',
    'iat',
    'nbf',
    'nonce',
    'name',
    'oid',
    'tid',
    'preferred_username',
    'upn',
    'groups',
    'roles',
    'wids',
    'ver',
  ],
  request_uri_parameter_supported: false,
  frontchannel_logout_supported: false,
  tenant_region_scope: 'WW',
} as const;

/** The document of a tenant, or of whichever tenant the user is of. `segment` is the tenant as the path names it. */
export function openIdConfiguration(entra: Entra, base: string, segment: string, tenant: Tenant, version: 1 | 2) {
  const name = segment.toLowerCase() === 'common' || segment.toLowerCase() === 'organizations' ? segment : tenant.id;
  const oauth = `${base}/${name}/oauth2${version === 2 ? '/v2.0' : ''}`;
  return {
    ...shared,
    issuer: issuerOf(base, name === tenant.id ? name : '{tenantid}', version),
    authorization_endpoint: `${oauth}/authorize`,
    token_endpoint: `${oauth}/token`,
    device_authorization_endpoint: `${oauth}/devicecode`,
    end_session_endpoint: `${oauth}/logout`,
    jwks_uri: `${base}/${name}/discovery${version === 2 ? '/v2.0' : ''}/keys`,
    cloud_instance_name: loginHost(entra),
    cloud_graph_host_name: `graph.${entra.cloud.suffix}`,
    msgraph_host: `graph.${entra.cloud.suffix}`,
  };
}

/** The form of AD FS, whose clients ask for no list of instances and know one tenant. */
export function adfsConfiguration(base: string) {
  return {
    ...shared,
    issuer: `${base}/adfs`,
    authorization_endpoint: `${base}/adfs/oauth2/authorize/`,
    token_endpoint: `${base}/adfs/oauth2/token/`,
    device_authorization_endpoint: `${base}/adfs/oauth2/devicecode`,
    end_session_endpoint: `${base}/adfs/oauth2/logout`,
    jwks_uri: `${base}/adfs/discovery/keys`,
  };
}

/** Which hosts are one cloud. Throws 50049 for an authority that is not of this one. */
export function instanceDiscovery(entra: Entra, base: string, authorizationEndpoint: string) {
  const asked = URL.canParse(authorizationEndpoint) ? new URL(authorizationEndpoint) : undefined;
  const hosts = issuerBases(entra).map((one) => new URL(one).host);
  if (!asked || !hosts.includes(asked.host)) throw aadsts.instance(asked?.host ?? authorizationEndpoint);
  const tenant = asked.pathname.split('/')[1] || 'common';
  return {
    tenant_discovery_endpoint: `${base}/${tenant}/v2.0/.well-known/openid-configuration`,
    'api-version': '1.1',
    metadata: hosts.map((host) => ({ preferred_network: host, preferred_cache: host, aliases: [host] })),
  };
}

/** How users of a name sign in: all of them with a password, here. */
export function userRealm(entra: Entra, base: string, name: string) {
  const domain = name.split('@')[1]?.toLowerCase() ?? '';
  const known = entra.tenants.some((tenant) => tenant.domain.toLowerCase() === domain);
  return {
    ver: '1.0',
    account_type: known ? 'Managed' : 'Unknown',
    domain_name: domain,
    cloud_instance_name: loginHost(entra),
    cloud_audience_urn: `urn:federation:${new URL(base).hostname}`,
  };
}
