// Who a program is to Azure. One choice among the kinds below, the same classes of @azure/identity against any cloud, loaded when the
// first token is asked for.
import type { AccessToken, GetTokenOptions, TokenCredential } from '@azure/identity';
import type { Secret } from '../kit/secret.ts';
import { Secret as SecretText } from '../kit/secret.ts';
import type { AzureEnvironment, Variables } from './environment.ts';
import { reachOf } from './environment.ts';
import { type IdentityEndpoint, identityEndpointCredential } from './identity-endpoint.ts';

/** What the clients of Azure's SDKs take. */
export interface Credential extends TokenCredential {
  getToken(scopes: string | string[], options?: GetTokenOptions): Promise<AccessToken | null>;
}

export type CredentialConfig =
  | {
      readonly kind: 'clientSecret';
      readonly tenantId: string;
      readonly clientId: string;
      readonly secret: Secret<string>;
    }
  /** A PEM file with the certificate and its key. */
  | {
      readonly kind: 'clientCertificate';
      readonly tenantId: string;
      readonly clientId: string;
      readonly certificateFile: string;
    }
  /** A token of a Kubernetes service account, in a file that Kubernetes keeps fresh. */
  | {
      readonly kind: 'workloadIdentity';
      readonly tenantId: string;
      readonly clientId: string;
      readonly tokenFile: string;
    }
  /** What is assigned to the machine. With `endpoint`, what that endpoint gives: several programs of one process can have their own. */
  | { readonly kind: 'managedIdentity'; readonly clientId?: string; readonly endpoint?: IdentityEndpoint }
  /** Whoever has signed in with `az login`. */
  | { readonly kind: 'cli'; readonly tenantId?: string }
  /** The machine's identity, and where there is none, the Azure CLI's. */
  | { readonly kind: 'machineOrCli' };

/**
 * The credential that variables name, as the SDKs of Azure understand them: `AZURE_TENANT_ID` and `AZURE_CLIENT_ID` with
 * `AZURE_CLIENT_SECRET`, `AZURE_CLIENT_CERTIFICATE_PATH` or `AZURE_FEDERATED_TOKEN_FILE`; else the machine's identity, else the CLI's.
 * Throws when one of these is there and what goes with it is not.
 */
export function credentialConfigFrom(variables: Variables): CredentialConfig {
  const { AZURE_TENANT_ID: tenantId, AZURE_CLIENT_ID: clientId } = variables;
  const own = (name: string): { readonly tenantId: string; readonly clientId: string } => {
    if (tenantId && clientId) return { tenantId, clientId };
    const missing = [!tenantId && 'AZURE_TENANT_ID', !clientId && 'AZURE_CLIENT_ID'].filter(Boolean).join(' and ');
    throw new TypeError(`${name} is set but ${missing} not`);
  };
  const { AZURE_CLIENT_SECRET: secret, AZURE_CLIENT_CERTIFICATE_PATH: certificateFile } = variables;
  const { AZURE_FEDERATED_TOKEN_FILE: tokenFile, IDENTITY_ENDPOINT: url, IDENTITY_HEADER: header } = variables;
  if (secret) return { kind: 'clientSecret', ...own('AZURE_CLIENT_SECRET'), secret: new SecretText(secret) };
  if (certificateFile) return { kind: 'clientCertificate', ...own('AZURE_CLIENT_CERTIFICATE_PATH'), certificateFile };
  if (tokenFile) return { kind: 'workloadIdentity', ...own('AZURE_FEDERATED_TOKEN_FILE'), tokenFile };
  const named = clientId ? { clientId } : {};
  if (url && header) return { kind: 'managedIdentity', ...named, endpoint: { url, header: new SecretText(header) } };
  return clientId ? { kind: 'managedIdentity', clientId } : { kind: 'machineOrCli' };
}

export function createCredential(environment: AzureEnvironment, config: CredentialConfig): Credential {
  if (config.kind === 'managedIdentity' && config.endpoint) {
    return identityEndpointCredential(config.endpoint, config.clientId);
  }
  let making: Promise<TokenCredential> | undefined;
  return {
    async getToken(scopes, options) {
      making ??= makers[config.kind](environment, config as never);
      return (await making).getToken(scopes, options);
    },
  };
}

type Of<K extends CredentialConfig['kind']> = Extract<CredentialConfig, { kind: K }>;

const makers: {
  readonly [K in CredentialConfig['kind']]: (environment: AzureEnvironment, config: Of<K>) => Promise<TokenCredential>;
} = {
  clientSecret: async (environment, { tenantId, clientId, secret }) =>
    new (await import('@azure/identity')).ClientSecretCredential(
      tenantId,
      clientId,
      secret.reveal(),
      authorityOf(environment),
    ),
  clientCertificate: async (environment, { tenantId, clientId, certificateFile }) =>
    new (await import('@azure/identity')).ClientCertificateCredential(
      tenantId,
      clientId,
      { certificatePath: certificateFile },
      authorityOf(environment),
    ),
  workloadIdentity: async (environment, { tenantId, clientId, tokenFile }) =>
    new (await import('@azure/identity')).WorkloadIdentityCredential({
      tenantId,
      clientId,
      tokenFilePath: tokenFile,
      ...authorityOf(environment),
    }),
  managedIdentity: async (_environment, { clientId }) =>
    new (await import('@azure/identity')).ManagedIdentityCredential(clientId === undefined ? {} : { clientId }),
  cli: async (_environment, { tenantId }) =>
    new (await import('@azure/identity')).AzureCliCredential(tenantId === undefined ? {} : { tenantId }),
  machineOrCli: async () => {
    const { AzureCliCredential, ChainedTokenCredential, ManagedIdentityCredential } = await import('@azure/identity');
    return new ChainedTokenCredential(new ManagedIdentityCredential(), new AzureCliCredential());
  },
};

function authorityOf(environment: AzureEnvironment) {
  return {
    authorityHost: environment.authorityHost,
    disableInstanceDiscovery: !environment.knownAuthority,
    ...reachOf(environment, environment.authorityHost),
  };
}
