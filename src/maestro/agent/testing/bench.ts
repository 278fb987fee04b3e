// An agent without a cluster, and a link that does as it is told, for tests.
import { randomUUID } from 'node:crypto';
import { createLogger } from '../../../kit/log.ts';
import type { ManifestWork } from '../../../manifestwork/work.ts';
import type { Message, SpecMessage, StatusMessage } from '../../protocol/messages.ts';
import { createSequence } from '../../protocol/sequence-id.ts';
import { type Agent, createAgent } from '../agent.ts';
import type { AgentLink } from '../link.ts';
import type { AgentState } from '../state.ts';

export const silent = createLogger({ service: 'test', level: 'silent' });
export const consumer = 'cluster1';
const never = new AbortController().signal;

export function memoryState(): AgentState {
  const expired = new Map<string, number>();
  return {
    sequence: createSequence(),
    async addExpired(id, version) {
      expired.set(id, version);
    },
    isExpired: (id, version) => expired.get(id) === version,
    forgetExpired: (id) => expired.delete(id),
    stop: async () => {},
  };
}

export interface TestLink extends AgentLink {
  readonly sent: Message[];
  /** What sending does; takes the message unless set. */
  onSend: (message: Message) => Promise<void>;
  up: boolean;
  maxBytes: number;
}

export function testLink(): TestLink {
  return {
    sent: [],
    onSend: async () => {},
    up: true,
    maxBytes: 1024 * 1024,
    connected() {
      return this.up;
    },
    maxMessageBytes() {
      return this.maxBytes;
    },
    async send(message) {
      await this.onSend(message);
      this.sent.push(message);
    },
    stop: async () => {},
  };
}

export interface TestAgent extends Agent {
  readonly link: TestLink;
  readonly state: AgentState;
  /** What the engine would do when it has applied a work. */
  applied(id: string, note?: string): Promise<ManifestWork>;
  /** What the engine would do when the objects of a work are gone. */
  finalized(id: string): Promise<void>;
  /** Settles when nothing is on the way. */
  settled(): Promise<void>;
  reportsOf(id: string): readonly StatusMessage[];
}

export function testAgent(state: AgentState = memoryState()): TestAgent {
  const link = testLink();
  const agent = createAgent({ consumer, agentId: 'agent', sourceId: 'maestro', state, logger: silent });
  agent.use(link);
  const workOf = (id: string): ManifestWork => {
    const work = agent.works.get(id);
    if (work === undefined) throw new Error('there is no such work');
    return work;
  };
  return {
    ...agent,
    link,
    state,
    async applied(id, note = '') {
      const held = await agent.works.source.addFinalizer(workOf(id), never);
      const condition = {
        type: 'Applied',
        status: 'True',
        reason: 'AppliedManifestWorkComplete',
        message: note,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      } as const;
      await agent.works.source.writeStatus(held, { conditions: [condition] }, never);
      return workOf(id);
    },
    finalized: async (id) => agent.works.source.removeFinalizer(workOf(id), never),
    async settled() {
      while (agent.reports.pending > 0 && link.up) await new Promise((next) => setImmediate(next));
    },
    reportsOf: (id) =>
      link.sent.filter((message): message is StatusMessage => message.kind === 'status' && message.resourceId === id),
  };
}

/** What a server says of a bundle. */
export function spec(id: string, version: number, more: Partial<SpecMessage> = {}): SpecMessage {
  return {
    kind: 'spec',
    action: version === 1 ? 'create_request' : 'update_request',
    id: randomUUID(),
    source: 'maestro',
    clusterName: consumer,
    originalSource: '',
    resourceId: id,
    resourceVersion: version,
    metadata: { name: id, labels: { app: 'x' } },
    bundle: { manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `v${version}` } }] },
    ...more,
  };
}

export function deletion(id: string, version: number): SpecMessage {
  const { bundle: _, ...rest } = spec(id, version);
  return { ...rest, action: 'delete_request', deletionTimestamp: new Date() };
}
