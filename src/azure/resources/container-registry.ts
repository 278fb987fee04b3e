import type { ResourceRequest } from '../arm-client.ts';

export const containerRegistryVersion = '2023-07-01';

/** Pulling from every repository of the registry. */
export const pullFromAll = '_repositories_pull';

/** A name with which a cluster pulls images; its passwords are made by `generateCredentials` of the registry. */
export function registryToken(registryId: string, name: string, scopeMap: string = pullFromAll): ResourceRequest {
  return {
    id: `${registryId}/tokens/${name}`,
    apiVersion: containerRegistryVersion,
    body: { properties: { scopeMapId: `${registryId}/scopeMaps/${scopeMap}`, status: 'Enabled' } },
  };
}

/** What to POST to `<registry>/generateCredentials` for one of the two passwords of a token. */
export function registryTokenPassword(
  registryId: string,
  token: string,
  password: { readonly name: 'password1' | 'password2'; readonly expiry: Date },
): { readonly tokenId: string; readonly name: string; readonly expiry: string } {
  return { tokenId: `${registryId}/tokens/${token}`, name: password.name, expiry: password.expiry.toISOString() };
}
