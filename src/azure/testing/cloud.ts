// The clients of src/azure against a cloud of a test, with waits that are written down and not waited.
import type { TestContext } from 'node:test';
import type { Fault } from '../../local/azure/kernel/faults.ts';
import { type StartOptions, startAzure, type TestAzure } from '../../local/azure/testing/start-azure.ts';
import { widgets } from '../../local/azure/testing/widgets.ts';
import { type ArmClient, createArmClient } from '../arm-client.ts';
import { type Credential, createCredential } from '../credential.ts';
import { type AzureEnvironment, environmentFromMetadata } from '../environment.ts';
import type { RetryRules } from '../retry.ts';

export interface TestCloud {
  readonly azure: TestAzure;
  readonly environment: AzureEnvironment;
  readonly credential: Credential;
  readonly arm: ArmClient;
  /** How long the client would have waited, in milliseconds, in order. Looks at operations are among them. */
  readonly waits: number[];
  /** The codes of the errors after which it tried again. */
  readonly retried: string[];
  fault(fault: Fault): void;
}

export async function testCloud(
  t: TestContext,
  options: StartOptions & { readonly retry?: RetryRules } = {},
): Promise<TestCloud> {
  const { retry, ...start } = options;
  const azure = await startAzure(t, { ...start, providers: [widgets, ...(start.providers ?? [])] });
  const { ca, cloud, owner, world } = azure.azure;
  const environment = await environmentFromMetadata(azure.origin, { ca, proxy: cloud.proxy });
  const credential = createCredential(environment, {
    kind: 'clientSecret',
    tenantId: owner.tenantId,
    clientId: owner.clientId,
    secret: owner.secret,
  });
  const waits: number[] = [];
  const retried: string[] = [];
  const arm = createArmClient({
    environment,
    credential,
    ...(retry === undefined ? {} : { retry }),
    random: () => 0.5,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      waits.push(ms);
      // Lets the cloud, which is in this process, go on.
      await new Promise(setImmediate);
    },
    onRetry: (_call, error) => retried.push(error.code),
  });
  return { azure, environment, credential, arm, waits, retried, fault: (fault) => void world.faults.add(fault) };
}
