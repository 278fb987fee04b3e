// The client for other token issuers, loaded when it is first asked: most clouds never do, and it brings an HTTP client of its own.
import type { IssuerClient, IssuerClientOptions } from './entra/issuer-client.ts';

export function lazyIssuerClient(options: IssuerClientOptions): IssuerClient {
  let client: Promise<IssuerClient> | undefined;
  const load = async (): Promise<IssuerClient> => {
    const { createIssuerClient } = await import('./entra/issuer-client.ts');
    return createIssuerClient(options);
  };
  return {
    async get(url) {
      client ??= load();
      return (await client).get(url);
    },
    async close() {
      await (await client)?.close();
    },
  };
}
