// A fresh cloud for az, and the recordings of what was said to it.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CloudMetadata } from '../../../src/cli/local-azure-az.ts';
import { createLogger } from '../../../src/kit/log.ts';
import { defaultTenantId } from '../../../src/local/azure/config.ts';
import { type RunningAzure, start } from '../../../src/local/azure/main.ts';
import { type Az, type Ran, signedIn } from './az.ts';
import { type Exchange, isUnderWay, namedExchange } from './exchange.ts';
import { createNaming, type Naming } from './naming.ts';
import { startRecordingProxy } from './recording-proxy.ts';
import { type Step, steps, template } from './steps.ts';

export const subscriptionId = '00000000-1111-4222-8333-444444444444';

export interface Recording {
  readonly step: string;
  readonly exchanges: readonly Exchange[];
}

export interface Recordings {
  /** The az that was recorded. */
  readonly version: string;
  /** In the order of the steps; the first is signing in. */
  readonly recordings: readonly Recording[];
}

export async function startCloud(): Promise<RunningAzure> {
  const azure = await start({
    logger: createLogger({ service: 'azure', level: 'fatal' }),
    port: 0,
    proxyPort: 0,
    dnsPort: 0,
    profile: 'instant',
    graceSeconds: 5,
    subscriptions: [{ subscriptionId, displayName: 'Test' }],
  });
  await azure.ready;
  for (const { namespace, alwaysRegistered } of azure.world.providers) {
    if (alwaysRegistered) continue;
    await azure.world.subscriptions.change(subscriptionId, (subscription) => ({
      ...subscription,
      registrations: { ...subscription.registrations, [namespace.toLowerCase()]: 'Registered' },
    }));
  }
  return azure;
}

/** The names that values of a cloud have in its recordings. */
export function namingOf(azure: RunningAzure): Naming {
  const { origin } = azure.cloud;
  return createNaming(
    {
      origin,
      encodedOrigin: encodeURIComponent(origin),
      host: new URL(origin).host,
      proxy: azure.cloud.proxy,
      ownerSecret: azure.owner.secret.reveal(),
    },
    [
      subscriptionId,
      defaultTenantId,
      azure.owner.clientId,
      azure.owner.objectId,
      '00000000-0000-0000-0000-000000000000',
    ],
  );
}

export interface AzSession {
  readonly az: Az;
  /** Of everything that was said to sign in. */
  readonly signingIn: Recording;
  /** Runs a step and gives what az did and said. */
  run(step: Step): Promise<{ readonly ran: Ran; readonly recording: Recording }>;
  stop(): Promise<void>;
}

export async function startSession(program: string): Promise<AzSession> {
  const azure = await startCloud();
  const proxy = await startRecordingProxy(azure);
  const naming = namingOf(azure);
  const taken = (step: string, bodies = true): Recording => ({
    step,
    exchanges: withoutWaiting(proxy.take().map((raw) => namedExchange(raw, naming, bodies))),
  });
  const stopCloud = async (): Promise<void> => {
    await proxy.stop();
    await azure.stop();
  };
  try {
    const az = await signedIn({
      program,
      azure,
      proxy,
      metadata: await metadataOf(azure),
      template,
      subscription: subscriptionId,
    });
    return {
      az,
      signingIn: taken('sign-in'),
      async run(step) {
        const ran = await az.run([...step.args, '--output', 'json', '--only-show-errors']);
        return { ran, recording: taken(step.name, step.statusOnly !== true) };
      },
      async stop() {
        await az.remove();
        await stopCloud();
      },
    };
  } catch (error) {
    await stopCloud();
    throw error;
  }
}

/** How often a client asked before an operation was over is a matter of luck: only the last time counts. */
function withoutWaiting(exchanges: readonly Exchange[]): readonly Exchange[] {
  return exchanges.filter((exchange, at) => {
    const next = exchanges[at + 1];
    const again = next !== undefined && next.method === 'GET' && exchange.method === 'GET' && next.url === exchange.url;
    return !(again && isUnderWay(exchange.answer));
  });
}

async function metadataOf(azure: RunningAzure): Promise<CloudMetadata> {
  const { Agent, request } = await import('undici');
  const agent = new Agent({ connect: { ca: azure.ca } });
  try {
    const answer = await request(`${azure.cloud.origin}/metadata/endpoints?api-version=2022-09-01`, {
      dispatcher: agent,
    });
    return (await answer.body.json()) as CloudMetadata;
  } finally {
    await agent.close();
  }
}

const folder = fileURLToPath(new URL('./recorded/', import.meta.url));

export function readRecordings(): Recordings {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const read = (name: string): unknown => JSON.parse(readFileSync(`${folder}${name}`, 'utf8'));
  const { version } = read('about.json') as { readonly version: string };
  const recordings = names
    .filter((name) => name !== 'about.json')
    .sort()
    .map((name) => read(name) as Recording);
  return { version, recordings };
}

export function writeRecordings({ version, recordings }: Recordings): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (name: string, value: unknown): void =>
    writeFileSync(`${folder}${name}.json`, `${JSON.stringify(value, undefined, 1)}\n`);
  write('about', { version });
  for (const [at, recording] of recordings.entries())
    write(`${String(at).padStart(3, '0')}-${recording.step}`, recording);
}

/** The step a recording is of. */
export function stepOf(recording: Recording): Step | undefined {
  return steps.find(({ name }) => name === recording.step);
}
