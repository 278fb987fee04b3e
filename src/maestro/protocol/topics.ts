// MQTT topics: who publishes and subscribes where.
import { type Decoded, decoded, refused } from './refusal.ts';

/** As the broker's configuration has them. */
export interface Topics {
  /** `sources/maestro/consumers/+/sourceevents`: from the server to one agent. */
  readonly sourceEvents: string;
  /** `sources/maestro/consumers/+/agentevents`: from an agent to the server; for a server maybe under `$share/<group>/`. */
  readonly agentEvents: string;
  /** `sources/+/sourcebroadcast`: from the server to all agents. */
  readonly sourceBroadcast?: string;
  /** `clusters/+/agentbroadcast`: from one agent to all sources. */
  readonly agentBroadcast?: string;
}

export const defaultSourceId = 'maestro';

export function defaultTopics(sourceId: string = defaultSourceId): Topics {
  return {
    sourceEvents: `sources/${sourceId}/consumers/+/sourceevents`,
    agentEvents: `sources/${sourceId}/consumers/+/agentevents`,
  };
}

/** What a topic, or a filter with `+`, is about. */
export type ParsedTopic =
  | {
      readonly kind: 'sourceevents' | 'agentevents';
      /** May be `+`. */
      readonly source: string;
      /** May be `+`. */
      readonly cluster: string;
      readonly group?: string;
    }
  | { readonly kind: 'sourcebroadcast'; readonly source: string; readonly group?: string }
  | { readonly kind: 'agentbroadcast'; readonly cluster: string; readonly group?: string };

const shared = /^\$share\/([^/+#]+)\/(.+)$/s;
const events = /^[a-z]+\/([a-z0-9-]+|\+)\/[a-z]+\/([a-z0-9-]+|\+)\/(sourceevents|agentevents)$/;
const broadcast = /^[a-z]+\/([a-z0-9-]+|\+)\/(sourcebroadcast|agentbroadcast)$/;
const maxTopicLength = 1024;

/** What a topic or a filter of the grammar says. */
export function parseTopic(text: string): Decoded<ParsedTopic> {
  if (text.length > maxTopicLength) return refused('too-large', 'the topic is too long');
  const [, group, rest = text] = shared.exec(text) ?? [];
  const common = group === undefined ? {} : { group };
  const [, source = '', cluster = '', kind] = events.exec(rest) ?? [];
  if (kind === 'sourceevents' || kind === 'agentevents') return decoded({ kind, source, cluster, ...common });
  const [, who = '', broadcastKind] = broadcast.exec(rest) ?? [];
  if (broadcastKind === 'sourcebroadcast') return decoded({ kind: broadcastKind, source: who, ...common });
  if (broadcastKind === 'agentbroadcast') return decoded({ kind: broadcastKind, cluster: who, ...common });
  return refused('invalid-attribute', 'the topic is not one of Maestro');
}

/** Whether a consumer of this name can have a topic. */
export function isTopicName(name: string): boolean {
  return /^[a-z0-9-]{1,253}$/.test(name);
}

/** Everything that can be wrong with configured topics, for a server or an agent of this source; empty when they fit. */
export function topicProblems(topics: Topics, sourceId: string): readonly string[] {
  const named = Object.entries(topics) as [keyof Topics, string][];
  return named.flatMap(([name, text]) => {
    const parsed = parseTopic(text);
    if (!parsed.ok) return [`${name}: ${parsed.refusal.message}`];
    if (parsed.value.kind !== name.toLowerCase()) return [`${name}: it is a topic for ${parsed.value.kind}`];
    const isEvents = parsed.value.kind === 'sourceevents' || parsed.value.kind === 'agentevents';
    if (isEvents && 'source' in parsed.value && parsed.value.source !== sourceId) {
      return [`${name}: its source is '${parsed.value.source}', but this one's is '${sourceId}'`];
    }
    return [];
  });
}

/** Where the server publishes to one consumer. */
export function sourceEventsTopic(topics: Topics, cluster: string): string {
  return withLastWildcard(unshared(topics.sourceEvents), cluster);
}

/** Where the server asks all agents; undefined where no such topic is configured. */
export function sourceBroadcastTopic(topics: Topics, sourceId: string): string | undefined {
  return topics.sourceBroadcast === undefined
    ? undefined
    : withLastWildcard(unshared(topics.sourceBroadcast), sourceId);
}

/** Where an agent publishes its status. */
export function agentEventsTopic(topics: Topics, cluster: string): string {
  return withLastWildcard(unshared(topics.agentEvents), cluster);
}

/** Where an agent asks for a resync of specs: of all sources where there is a topic for it, else of its own. */
export function agentResyncTopic(topics: Topics, cluster: string): string {
  return topics.agentBroadcast === undefined
    ? agentEventsTopic(topics, cluster)
    : withLastWildcard(unshared(topics.agentBroadcast), cluster);
}

/** What a server subscribes to. */
export function serverSubscriptions(topics: Topics): readonly string[] {
  return [topics.agentEvents, ...(topics.agentBroadcast === undefined ? [] : [topics.agentBroadcast])];
}

/** What an agent subscribes to. */
export function agentSubscriptions(topics: Topics, cluster: string): readonly string[] {
  return [
    withLastWildcard(topics.sourceEvents, cluster),
    ...(topics.sourceBroadcast === undefined ? [] : [topics.sourceBroadcast]),
  ];
}

function unshared(topic: string): string {
  return shared.exec(topic)?.[2] ?? topic;
}

/** A name is put in only where it is one: it must not become further levels or wildcards. */
function withLastWildcard(topic: string, name: string): string {
  if (!isTopicName(name)) throw new TypeError('a name of a consumer or a source that cannot stand in a topic');
  const at = topic.lastIndexOf('+');
  return at === -1 ? topic : `${topic.slice(0, at)}${name}${topic.slice(at + 1)}`;
}
