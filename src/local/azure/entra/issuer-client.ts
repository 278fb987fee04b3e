// Reads documents of other token issuers. Whoever makes a federated credential chooses the address, so it is called by the rules
// for such addresses: hosts of this cloud where they really are on this machine, others through the guarded client.
import { request } from 'node:https';
import { createGuardedClient, type GuardedClientOptions } from '../../../kit/guarded-client.ts';
import type { Target } from '../kernel/network.ts';

export interface IssuerClient {
  /** The body of a 200. Throws an Error that says what was wrong, without the address's path. */
  get(url: string): Promise<Buffer>;
  close(): Promise<void>;
}

export interface IssuerClientOptions {
  /** Where a host of this cloud is on this machine; undefined for hosts that are not of it. */
  readonly target: (host: string, port: number) => Promise<Target | undefined>;
  /** PEM of the authority that signs for this cloud's hosts. */
  readonly ca: string;
  /** Issuers outside of this cloud that may be asked; none when left out. */
  readonly outside?: Pick<GuardedClientOptions, 'allowedHosts' | 'allowedPorts' | 'privateHosts' | 'ca'>;
}

const timeoutMs = 5000;
const maxResponseBytes = 256 * 1024;
const hostForm = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

export function createIssuerClient(options: IssuerClientOptions): IssuerClient {
  const guarded = createGuardedClient({
    allowedHosts: [],
    ...options.outside,
    timeoutSeconds: timeoutMs / 1000,
    maxResponseBytes,
  });
  return {
    async get(text) {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || !hostForm.test(url.hostname)) {
        throw new Error('The issuer must be an https address with a plain host name.');
      }
      const target = await options.target(url.hostname, Number(url.port || 443));
      if (target) return fetchFrom(target, url, options.ca);
      const answer = await guarded.request(text);
      if (answer.status !== 200) throw new Error(`${url.hostname} answered with status ${answer.status}.`);
      return answer.body;
    },
    close: () => guarded.close(),
  };
}

/** No redirect is followed and nothing is kept open. */
function fetchFrom(target: Target, url: URL, ca: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: target.host,
        port: target.port,
        servername: url.hostname,
        path: `${url.pathname}${url.search}`,
        headers: { host: url.host, accept: 'application/json' },
        ca,
        agent: false,
        signal: AbortSignal.timeout(timeoutMs),
      },
      (answer) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        answer.on('data', (part: Buffer) => {
          bytes += part.length;
          if (bytes > maxResponseBytes) answer.destroy(new Error(`${url.hostname} answered too much.`));
          else parts.push(part);
        });
        answer.on('error', reject);
        answer.on('end', () => {
          if (answer.statusCode === 200) resolve(Buffer.concat(parts));
          else reject(new Error(`${url.hostname} answered with status ${answer.statusCode ?? 0}.`));
        });
      },
    );
    asked.on('error', (cause: NodeJS.ErrnoException) => {
      reject(new Error(`${url.hostname} could not be asked (${cause.code ?? cause.name}).`, { cause }));
    });
    asked.end();
  });
}
