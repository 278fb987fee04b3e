// A client for the notification tests that trusts one authority and allows one host.
import { Agent, request as send } from 'undici';
import type { NotificationClient } from '../notifications.ts';

class Refused extends Error {}

export interface TestClient extends NotificationClient {
  readonly isRefused: (error: unknown) => boolean;
  close(): Promise<void>;
}

export async function notificationClient(authorityPem: string): Promise<TestClient> {
  const agent = new Agent({ connect: { ca: authorityPem, autoSelectFamily: true } });
  return {
    async request(url, { method, headers, body, signal }) {
      const { protocol, hostname } = new URL(url);
      if (protocol !== 'https:' || hostname !== 'localhost') throw new Refused(`${hostname} is not allowed`);
      const answer = await send(url, { dispatcher: agent, method, headers, body, signal });
      await answer.body.dump();
      return { status: answer.statusCode };
    },
    isRefused: (error) => error instanceof Refused,
    close: () => agent.close(),
  };
}
