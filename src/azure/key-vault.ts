// Key Vault's data plane: the SDK's clients for secrets, certificates and keys, each loaded when it is first asked for.
import type { CertificateClient } from '@azure/keyvault-certificates';
import type { CryptographyClient, KeyClient } from '@azure/keyvault-keys';
import type { SecretClient } from '@azure/keyvault-secrets';
import type { Credential } from './credential.ts';
import { type AzureEnvironment, reachOf } from './environment.ts';

export interface Vault {
  /** `https://<name>.vault.azure.net`. */
  readonly url: string;
  secrets(): Promise<SecretClient>;
  certificates(): Promise<CertificateClient>;
  keys(): Promise<KeyClient>;
  /** Seals and signs with a key by its id. */
  cryptography(keyId: string): Promise<CryptographyClient>;
}

/** `name` is a vault's name, or its whole address. */
export function openVault(environment: AzureEnvironment, credential: Credential, name: string): Vault {
  const url = name.startsWith('https://') ? name.replace(/\/+$/, '') : `https://${name}.${environment.keyVault.suffix}`;
  const options = reachOf(environment, url);
  const once = <T>(load: () => Promise<T>): (() => Promise<T>) => {
    let loading: Promise<T> | undefined;
    return () => {
      loading ??= load();
      return loading;
    };
  };
  return {
    url,
    secrets: once(async () => new (await import('@azure/keyvault-secrets')).SecretClient(url, credential, options)),
    certificates: once(
      async () => new (await import('@azure/keyvault-certificates')).CertificateClient(url, credential, options),
    ),
    keys: once(async () => new (await import('@azure/keyvault-keys')).KeyClient(url, credential, options)),
    cryptography: async (keyId) =>
      new (await import('@azure/keyvault-keys')).CryptographyClient(keyId, credential, options),
  };
}
