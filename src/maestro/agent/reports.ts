// What the agent says of its works. A status that changes again before it could be sent is sent once, as it is then; of one work
// there is one report on the way at a time, so that they arrive in order.
import { randomUUID } from 'node:crypto';
import type { Logger } from '../../kit/log.ts';
import { timeText } from '../../kube/time.ts';
import type { ManifestWork } from '../../manifestwork/work.ts';
import { deletedCondition, type ManifestBundleStatus } from '../protocol/manifest-bundle.ts';
import type { StatusMessage } from '../protocol/messages.ts';
import type { StatusHash } from '../protocol/resync.ts';
import type { Sequence } from '../protocol/sequence-id.ts';
import { statusHash } from '../protocol/status-hash.ts';
import { bundleStatus, hashOf, metadataOf, originalSourceLabel } from './bundle-work.ts';
import { fitted } from './fitted-status.ts';
import { type AgentLink, RefusedError } from './link.ts';

export interface Reports {
  /** The status of a work is to be reported. */
  changed(id: string): void;
  /** A work is gone: the server is to be told. */
  deleted(work: ManifestWork): void;
  /** A work is there that may have been reported as gone. */
  added(id: string): void;
  /** The server has seen these statuses (none: nothing at all) of this source; what differs is sent. */
  resync(hashes: readonly StatusHash[], source: string): void;
  /** The link has come up: what waits is sent, and what may have been lost with the broker is sent again. */
  connected(): void;
  /** Reports that wait or are on the way. */
  readonly pending: number;
  stop(): void;
}

export interface ReportsOptions {
  readonly agentId: string;
  readonly consumer: string;
  readonly link: () => AgentLink | undefined;
  readonly works: () => { get(id: string): ManifestWork | undefined; list(): readonly ManifestWork[] };
  readonly sequence: Sequence;
  readonly logger: Logger;
  readonly onSent?: (action: string) => void;
  readonly now?: () => number;
}

type Action = StatusMessage['action'];

/** On the way at once. */
const window = 128;
const retryMs = 1000;
/** A broker that goes down loses what it had not handed on yet; what was sent this shortly before is sent again. */
const doubtMs = 5 * 60_000;

export function createReports(options: ReportsOptions): Reports {
  const { logger, sequence, now = () => performance.now() } = options;
  const due = new Map<string, Action>();
  const gone = new Map<string, ManifestWork>();
  const underWay = new Set<string>();
  /** When each was sent last, oldest first. */
  const sent = new Map<string, number>();
  let retry: NodeJS.Timeout | undefined;
  let stopped = false;

  function want(id: string, action: Action): void {
    if (!due.has(id)) due.set(id, action);
    pump();
  }

  function pump(): void {
    if (stopped) return;
    const link = options.link();
    if (!link?.connected()) return;
    for (const [id, action] of due) {
      if (underWay.size >= window) return;
      if (underWay.has(id)) continue;
      due.delete(id);
      const message = messageOf(id, action, link.maxMessageBytes());
      if (message !== undefined) void deliver(link, id, action, message);
    }
  }

  async function deliver(link: AgentLink, id: string, action: Action, message: StatusMessage): Promise<void> {
    underWay.add(id);
    try {
      await link.send(message);
      sent.delete(id);
      sent.set(id, now());
      if (isGone(message)) gone.delete(id);
      options.onSent?.(action);
      forgetOld();
    } catch (err) {
      if (err instanceof RefusedError) {
        logger.error({ err, bundle: id }, 'a report was refused');
        gone.delete(id);
      } else {
        if (!due.has(id)) due.set(id, action);
        again();
      }
    } finally {
      underWay.delete(id);
      pump();
    }
  }

  /** For a link that stands and yet did not take it. */
  function again(): void {
    if (retry !== undefined || stopped) return;
    const blocked = new Set(due.keys());
    retry = setTimeout(() => {
      retry = undefined;
      for (const id of blocked) if (due.has(id)) return pump();
    }, retryMs).unref();
  }

  function forgetOld(): void {
    for (const [id, at] of sent) {
      if (now() - at < doubtMs) break;
      sent.delete(id);
    }
  }

  function messageOf(id: string, action: Action, maxBytes: number): StatusMessage | undefined {
    const work = options.works().get(id);
    if (work !== undefined) {
      // Nothing to say yet; its first status is reported when it is there.
      if (work.status === undefined) return undefined;
      return message(work, action, fitted(bundleStatus(work.status), maxBytes), hashOf(work.status));
    }
    const last = gone.get(id);
    if (last === undefined) return undefined;
    const status = goneStatus(last, options.consumer);
    return message(last, action, fitted(status, maxBytes), statusHash(status));
  }

  function message(work: ManifestWork, action: Action, status: ManifestBundleStatus, hash: string): StatusMessage {
    const { uid = '', generation = 0, labels = {} } = work.metadata;
    return {
      kind: 'status',
      action,
      id: randomUUID(),
      source: options.agentId,
      time: new Date().toISOString(),
      clusterName: options.consumer,
      originalSource: labels[originalSourceLabel] ?? '',
      logTracing: '{}',
      resourceId: uid,
      resourceVersion: generation,
      metadata: metadataOf(work),
      sequenceId: sequence.next(),
      statusHash: hash,
      status,
    };
  }

  return {
    changed: (id) => want(id, 'update_request'),
    deleted(work) {
      const id = work.metadata.uid ?? '';
      gone.set(id, work);
      want(id, 'update_request');
    },
    added(id) {
      gone.delete(id);
    },
    resync(hashes, source) {
      const isOf = ({ metadata }: ManifestWork): boolean => metadata.labels?.[originalSourceLabel] === source;
      const works = options.works();
      if (hashes.length === 0) {
        for (const work of works.list().filter(isOf)) want(work.metadata.uid ?? '', 'resync_response');
        return;
      }
      for (const { resourceID, statusHash: seen } of hashes) {
        const work = works.get(resourceID);
        if (work?.status === undefined || !isOf(work) || hashOf(work.status) === seen) continue;
        want(resourceID, 'resync_response');
      }
    },
    connected() {
      forgetOld();
      for (const id of sent.keys()) if (!due.has(id)) due.set(id, 'update_request');
      for (const id of gone.keys()) if (!due.has(id)) due.set(id, 'update_request');
      pump();
    },
    get pending() {
      return due.size + underWay.size;
    },
    stop() {
      stopped = true;
      clearTimeout(retry);
    },
  };
}

function isGone({ status }: StatusMessage): boolean {
  return status.conditions.some(({ type, status }) => type === deletedCondition.type && status === 'True');
}

function goneStatus({ status }: ManifestWork, consumer: string): ManifestBundleStatus {
  const { conditions, resourceStatus } = bundleStatus(status);
  const condition = {
    ...deletedCondition,
    status: 'True',
    lastTransitionTime: timeText(Date.now()),
    message: `The manifests are deleted from the cluster ${consumer}`,
  };
  return {
    conditions: [...conditions.filter(({ type }) => type !== deletedCondition.type), condition],
    resourceStatus,
  };
}
