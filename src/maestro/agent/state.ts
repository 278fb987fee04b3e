// The little that an agent has to know of its earlier runs, in a ConfigMap on its cluster: the last sequence id, so that a clock that
// was set back does not make its reports look old, and the bundles whose time is over, so that they are not run again.
import type { Logger } from '../../kit/log.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { resource } from '../../kube/resource.ts';
import { createSequence, type Sequence } from '../protocol/sequence-id.ts';

export interface AgentState {
  /** Every id is greater than those of earlier runs, up to what they had half a minute before they ended without notice. */
  readonly sequence: Sequence;
  /** Settles when it is written. */
  addExpired(id: string, version: number, signal: AbortSignal): Promise<void>;
  isExpired(id: string, version: number): boolean;
  forgetExpired(id: string): void;
  /** Writes what is new. Never rejects. */
  stop(): Promise<void>;
}

export interface AgentStateOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly consumer: string;
  readonly logger: Logger;
  /** The clock, for tests. */
  readonly now?: () => number;
}

const configMaps = resource<KubeObject & { data?: Readonly<Record<string, string>> }>('v1', 'ConfigMap', 'configmaps');
const fieldManager = 'maestro-agent';
const saveMs = 30_000;
const maxExpired = 5000;

/** Reads what is there, and writes every half minute what has changed. Throws where the cluster cannot be asked. */
export async function openAgentState(options: AgentStateOptions): Promise<AgentState> {
  const { client, namespace, logger } = options;
  const name = `maestro-agent-${options.consumer}`;
  const found = await client.find(configMaps, { namespace, name });
  const sequence = createSequence(options.now);
  let issued = found?.data?.sequence ?? '';
  let written = issued;
  sequence.observe(issued);
  const expired = new Map<string, number>(readExpired(found?.data?.expired));
  let writing: Promise<void> = Promise.resolve();

  const write = (signal?: AbortSignal): Promise<void> => {
    const run = async (): Promise<void> => {
      const data = { sequence: issued, expired: JSON.stringify([...expired]) };
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
      await client.apply(configMaps, body, { fieldManager, force: true, ...(signal === undefined ? {} : { signal }) });
      written = data.sequence;
    };
    const done = writing.then(run);
    writing = done.catch(() => {});
    return done;
  };
  const save = async (): Promise<void> => {
    if (issued === written) return;
    try {
      await write();
    } catch (err) {
      logger.warn({ err }, 'the state of the agent could not be written');
    }
  };
  const timer = setInterval(() => void save(), saveMs).unref();

  return {
    sequence: {
      next() {
        issued = sequence.next();
        return issued;
      },
      observe: sequence.observe,
    },
    async addExpired(id, version, signal) {
      expired.delete(id);
      expired.set(id, version);
      for (const [oldest] of expired) {
        if (expired.size <= maxExpired) break;
        expired.delete(oldest);
      }
      await write(signal);
    },
    isExpired: (id, version) => expired.get(id) === version,
    forgetExpired: (id) => expired.delete(id),
    async stop() {
      clearInterval(timer);
      await save();
    },
  };
}

function readExpired(text: string | undefined): readonly (readonly [string, number])[] {
  try {
    const rows: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(rows)) return [];
    return rows.filter(
      (row): row is [string, number] => Array.isArray(row) && typeof row[0] === 'string' && typeof row[1] === 'number',
    );
  } catch {
    return [];
  }
}
