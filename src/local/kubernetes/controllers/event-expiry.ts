// Events are news: they go after an hour.
import type { HostedCluster } from '../clusters.ts';
import { type Controller, wholeCluster } from './controller.ts';
import { events } from './kinds.ts';

const keepMs = 3_600_000;
/** Whatever is due by then goes in one look. */
const togetherMs = 60_000;

/** Clusters that will be looked at anyway: another event is no reason to do so now. */
const planned = new WeakSet<HostedCluster>();

export const eventExpiry: Controller = {
  name: 'event-expiry',
  triggers: {
    [events.type.storage]: ({ kind }, { cluster }) => (kind === 'ADDED' && !planned.has(cluster) ? [wholeCluster] : []),
  },
  async reconcile(hands) {
    const now = hands.now();
    let earliest = Number.POSITIVE_INFINITY;
    for (const entry of hands.entries(events)) {
      const { lastTimestamp, series, eventTime, metadata } = hands.read(events, entry);
      const last = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';
      const ends = Date.parse(last) + keepMs;
      if (ends <= now) await hands.remove(events, hands.read(events, entry));
      else earliest = Math.min(earliest, ends);
    }
    if (!Number.isFinite(earliest)) {
      planned.delete(hands.cluster);
      return undefined;
    }
    planned.add(hands.cluster);
    return { afterMs: Math.max(earliest - now, togetherMs) };
  },
};
