// Where those who are not the API server find what checks its service-account tokens.
import type { PathHandler } from '../http/routes.ts';

/** `/.well-known/openid-configuration` and `/openid/v1/jwks`. */
export const issuerDiscovery: PathHandler = async ({ cluster, method, path }) => {
  if (method !== 'GET') return undefined;
  const { tokens } = cluster.access;
  if (path === '/openid/v1/jwks') {
    return { status: 200, body: JSON.stringify(await tokens.keySet()), contentType: 'application/jwk-set+json' };
  }
  if (path !== '/.well-known/openid-configuration') return undefined;
  const about = {
    issuer: tokens.issuer,
    jwks_uri: `${cluster.url}/openid/v1/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  };
  return { status: 200, body: JSON.stringify(about), contentType: 'application/json' };
};
