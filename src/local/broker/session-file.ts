// Sessions on disk, for a broker that is stopped and started again. They are written when it stops: a broker that is killed begins
// without sessions, and its clients, told so, ask for what they missed.
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../kit/log.ts';
import { makePrivateDirectory } from '../../pki/private-directory.ts';
import { keyOf, newSession, type Sessions, type StoredPacket, type StoredSubscription } from './sessions.ts';

interface SavedSession {
  readonly id: string;
  readonly subscriptions: readonly StoredSubscription[];
  readonly queue: readonly SavedPacket[];
}

/** The payload is in base64. */
type SavedPacket = Omit<StoredPacket, 'payload'> & { readonly payload: string };

interface Saved {
  readonly sessions: readonly SavedSession[];
  readonly retained: readonly SavedPacket[];
}

const fileName = 'sessions.json';

/** Fills the sessions from the file and takes the file away, so that it cannot be read twice. */
export async function loadSessions(directory: string, into: Sessions, logger: Logger): Promise<void> {
  await makePrivateDirectory(directory);
  const file = join(directory, fileName);
  try {
    const saved = JSON.parse(await readFile(file, 'utf8')) as Saved;
    for (const { id, subscriptions, queue } of saved.sessions) {
      const session = newSession();
      for (const subscription of subscriptions) session.subscriptions.set(subscription.topic, subscription);
      for (const packet of queue.map(read)) {
        session.queue.set(keyOf(packet), packet);
        if (packet.messageId !== undefined) session.byMessageId.set(packet.messageId, keyOf(packet));
      }
      into.sessions.set(id, session);
    }
    for (const packet of saved.retained.map(read)) into.retained.set(packet.topic ?? '', packet);
  } catch (err) {
    if (err instanceof Error && 'code' in err && err.code === 'ENOENT') return;
    logger.warn({ err }, 'the sessions of the broker cannot be read; it begins without any');
    into.sessions.clear();
    into.retained.clear();
  }
  await rm(file, { force: true });
}

export async function saveSessions(directory: string, { sessions, retained }: Sessions): Promise<void> {
  const saved: Saved = {
    sessions: [...sessions].map(([id, { subscriptions, queue }]) => ({
      id,
      subscriptions: [...subscriptions.values()],
      queue: [...queue.values()].map(written),
    })),
    retained: [...retained.values()].map(written),
  };
  const file = join(directory, fileName);
  // Messages may hold secrets.
  await writeFile(`${file}.new`, JSON.stringify(saved), { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}

function written(packet: StoredPacket): SavedPacket {
  const { cmd, brokerId, brokerCounter, topic, qos, retain, properties, messageExpiry, messageId } = packet;
  const members = { cmd, brokerId, brokerCounter, topic, qos, retain, properties, messageExpiry, messageId };
  return { ...(members as StoredPacket), payload: Buffer.from(packet.payload ?? '').toString('base64') };
}

function read(saved: SavedPacket): StoredPacket {
  return { ...saved, payload: Buffer.from(saved.payload, 'base64') };
}
