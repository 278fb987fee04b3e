// Faults on the data planes, brought about the same way for all of them.
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HttpRequest, isHttp2 } from '../../../kit/http-server.ts';
import { faultError } from './fault-table.ts';
import type { World } from './world.ts';

/**
 * Counts the request and brings about what was asked for it: throws an ArmError, waits, or sees to it that the answer is lost after the
 * effect. To be called once a request, before its effect.
 */
export async function planeFaults(world: World, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const [path = '/'] = (request.raw.url ?? '/').split('?', 1);
  for (const fault of world.faults.on({ method: request.method, host: request.host, path })) {
    if (fault.kind === 'error') throw faultError(fault);
    if (fault.kind === 'latency') await delay(fault.ms, undefined, { signal: world.stopping, ref: false });
    if (fault.kind === 'lostAnswer') lost.add(reply);
  }
}

const lost = new WeakSet<FastifyReply>();

/** Whether the answer shall not arrive; if so, the connection is ended here and nothing more may be sent. */
export function loseAnswer(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!lost.has(reply)) return false;
  const raw: HttpRequest = request.raw;
  reply.hijack();
  if (isHttp2(raw)) raw.stream.close(2);
  else raw.socket.destroy();
  return true;
}
