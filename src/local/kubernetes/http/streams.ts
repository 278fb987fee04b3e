// Answers that last: a stream of bytes, and a connection that is taken for another protocol.
import { badRequest } from '../status.ts';
import type { Exchange } from './exchange.ts';
import { type Sending, streamHeaders } from './respond.ts';
import type { StreamedAnswer, UpgradeAnswer } from './routes.ts';

export function upgradeTo(exchange: Exchange, { upgrade, take }: UpgradeAnswer, stopping: AbortSignal): void {
  if (!exchange.upgrade) throw badRequest('Upgrade request required');
  const connection = exchange.upgrade(upgrade);
  const end = (): void => void connection.destroy();
  stopping.addEventListener('abort', end);
  exchange.onClose(() => stopping.removeEventListener('abort', end));
  take(connection);
  if (stopping.aborted) end();
}

export async function sendStream(sending: Sending, answer: StreamedAnswer, stopping: AbortSignal): Promise<void> {
  const { exchange } = sending;
  const sent = exchange.stream(200, { ...streamHeaders(sending), 'content-type': answer.contentType });
  const over = new AbortController();
  let goOn: (() => void) | undefined;
  const leave = (): void => {
    over.abort();
    goOn?.();
  };
  sent.onDrain(() => goOn?.());
  exchange.onClose(leave);
  stopping.addEventListener('abort', leave);
  if (stopping.aborted || exchange.closed) leave();
  try {
    for await (const piece of answer.stream(over.signal)) {
      if (over.signal.aborted) break;
      if (sent.write(piece)) continue;
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    }
    sent.end();
  } catch (error) {
    // The answer has begun, so that it can only be cut.
    sent.cut();
    throw error;
  } finally {
    stopping.removeEventListener('abort', leave);
  }
}
