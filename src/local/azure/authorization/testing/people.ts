// Principals for tests of access: applications with secrets, whose tokens a test can send.
import type { TestContext } from 'node:test';
import { ClientSecretCredential } from '@azure/identity';
import { Secret } from '../../../../kit/secret.ts';
import {
  type AzureAnswer,
  type CallOptions,
  type StartOptions,
  startAzure,
  type TestAzure,
} from '../../testing/start-azure.ts';

export const alice = {
  displayName: 'alice',
  appId: '11111111-aaaa-4aaa-8aaa-000000000001',
  objectId: '11111111-aaaa-4aaa-8aaa-000000000002',
};
export const bob = {
  displayName: 'bob',
  appId: '22222222-bbbb-4bbb-8bbb-000000000001',
  objectId: '22222222-bbbb-4bbb-8bbb-000000000002',
};

const secret = 'a-secret-of-the-tests-0123456789';

export interface TestPeople extends TestAzure {
  readonly group: string;
  /** A request with the token of one of them. */
  as(person: typeof alice, path: string, options?: CallOptions): Promise<AzureAnswer>;
  credentialOf(person: typeof alice): ClientSecretCredential;
  assign(person: typeof alice, role: string, scope: string, name?: string): Promise<AzureAnswer>;
}

/** A cloud with a resource group and two applications that may do nothing yet. */
export async function startPeople(t: TestContext, options: StartOptions = {}): Promise<TestPeople> {
  const azure = await startAzure(t, {
    ...options,
    directory: {
      applications: [alice, bob].map((person) => ({ ...person, secret: new Secret(secret) })),
    },
  });
  const group = `${azure.subscription}/resourceGroups/g1`;
  await azure.call(group, { method: 'PUT', body: { location: 'eastus' } });
  const credentialOf = (person: typeof alice) =>
    new ClientSecretCredential(azure.azure.owner.tenantId, person.appId, secret, {
      authorityHost: azure.origin,
      disableInstanceDiscovery: true,
      tlsOptions: { ca: azure.azure.ca },
    });
  return {
    ...azure,
    group,
    credentialOf,
    async as(person, path, callOptions = {}) {
      const { token } = await credentialOf(person).getToken(`${azure.origin}/.default`);
      return azure.call(path, { ...callOptions, token });
    },
    assign: (person, role, scope, name = crypto.randomUUID()) =>
      azure.call(
        `${scope === '/' ? '' : scope}/providers/Microsoft.Authorization/roleAssignments/${name}?api-version=2022-04-01`,
        {
          method: 'PUT',
          body: {
            properties: {
              roleDefinitionId: `${azure.subscription}/providers/Microsoft.Authorization/roleDefinitions/${role}`,
              principalId: person.objectId,
            },
          },
        },
      ),
  };
}

export const roles = {
  owner: '8e3af657-a8ff-443c-a75c-2fe8c4bcb635',
  contributor: 'b24988ac-6180-42a0-ab88-20f7382dd24c',
  reader: 'acdd72a7-3385-48ef-bd42-f606fba81ae7',
  accessAdministrator: '18d7d88d-d35e-4fb5-a5c3-7773c20a72d9',
  identityOperator: 'f1a07417-d97a-45cb-824c-7a7467783830',
} as const;

export function codeOf(answer: AzureAnswer): string | undefined {
  const error = answer.json?.error as { readonly code?: string } | undefined;
  return error?.code;
}
