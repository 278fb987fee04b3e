// What is asked of Microsoft Graph.
import type { Credential } from './credential.ts';
import type { AzureEnvironment } from './environment.ts';
import { errorOfAnswer } from './errors.ts';
import { armRetry, type Sleep, withRetry } from './retry.ts';
import { createWire } from './wire.ts';

export interface ServicePrincipal {
  /** Its object id: what roles are assigned to. */
  readonly id: string;
  readonly appId: string;
  readonly displayName: string;
}

export interface GraphClient {
  /** The service principal of an application in the credential's tenant; undefined when the tenant has none. */
  servicePrincipalOf(appId: string, signal?: AbortSignal): Promise<ServicePrincipal | undefined>;
}

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function createGraphClient(options: {
  readonly environment: AzureEnvironment;
  readonly credential: Credential;
  readonly sleep?: Sleep;
}): GraphClient {
  const { environment, credential } = options;
  const wire = createWire({ environment, credential, service: environment.graph });
  return {
    async servicePrincipalOf(appId, signal) {
      if (!guid.test(appId)) throw new TypeError(`${JSON.stringify(appId)} is no client id: it must be a GUID`);
      const path = `/v1.0/servicePrincipals?$filter=${encodeURIComponent(`appId eq '${appId}'`)}&$select=id,appId,displayName`;
      const answer = await withRetry(
        async () => {
          const given = await wire.send({ method: 'GET', path, ...(signal === undefined ? {} : { signal }) });
          if (given.status >= 400) throw errorOfAnswer(given, 'the search for a service principal');
          return given;
        },
        {
          rules: armRetry,
          idempotent: true,
          ...(options.sleep === undefined ? {} : { sleep: options.sleep }),
          ...(signal === undefined ? {} : { signal }),
        },
      );
      const { value } = answer.body as { readonly value?: readonly ServicePrincipal[] };
      return value?.[0];
    },
  };
}
