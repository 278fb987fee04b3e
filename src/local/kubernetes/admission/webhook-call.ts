// One call of a webhook: an AdmissionReview goes out, a verdict comes back.
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { isAllowedAddress } from '../../../kit/guarded-url.ts';
import type { Cluster } from '../cluster.ts';
import type { JsonObject } from '../object.ts';
import type { Webhook } from './webhook-configurations.ts';

/** What a webhook decided. */
export interface Verdict {
  readonly uid?: string;
  readonly allowed: boolean;
  readonly status?: {
    readonly code?: number;
    readonly message?: string;
    readonly reason?: string;
    readonly details?: JsonObject;
  };
  readonly patch?: string;
  readonly patchType?: string;
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/** Where a service of a cluster can be reached: host and port to connect to. Undefined when nothing answers for it. */
export type ServiceResolver = (
  cluster: Cluster,
  service: { readonly namespace: string; readonly name: string; readonly port: number },
) => { readonly host: string; readonly port: number } | undefined;

export interface WebhookCaller {
  /** Throws an error whose message the server would show after `failed to call webhook: `. */
  call(cluster: Cluster, webhook: Webhook, review: JsonObject, signal: AbortSignal): Promise<Verdict>;
  /** The same for any review: gives the text of the answer. */
  post(
    cluster: Cluster,
    webhook: Pick<Webhook, 'clientConfig' | 'timeoutSeconds'>,
    review: JsonObject,
    signal: AbortSignal,
  ): Promise<string>;
  close(): Promise<void>;
}

const defaultTimeoutSeconds = 10;
const largestAnswer = 8 * 1024 * 1024;
const mostAgents = 64;

/** Connections are kept for the next call, for the webhooks called last. */
export function createWebhookCaller(resolve: ServiceResolver = () => undefined): WebhookCaller {
  const agents = new Map<string, Agent>();

  function agentFor(caBundle: string, serverName: string | undefined): Agent {
    const key = `${serverName ?? ''} ${caBundle}`;
    const known = agents.get(key);
    if (known) {
      agents.delete(key);
      agents.set(key, known);
      return known;
    }
    const agent = new Agent({
      connect: {
        lookup: checkedLookup,
        ...(caBundle === '' ? {} : { ca: Buffer.from(caBundle, 'base64').toString() }),
        ...(serverName === undefined ? {} : { servername: serverName }),
      },
      keepAliveTimeout: 10_000,
      pipelining: 1,
    });
    agents.set(key, agent);
    const [oldest] = agents;
    if (agents.size > mostAgents && oldest) {
      agents.delete(oldest[0]);
      void oldest[1].close();
    }
    return agent;
  }

  const post: WebhookCaller['post'] = async (cluster, webhook, review, signal) => {
    const { timeoutSeconds = defaultTimeoutSeconds, clientConfig } = webhook;
    const shown = `Post "${shownUrl(webhook)}?timeout=${timeoutSeconds}s"`;
    const deadline = AbortSignal.timeout(timeoutSeconds * 1000);
    try {
      const target = targetOf(cluster, webhook, resolve);
      target.url.searchParams.set('timeout', `${timeoutSeconds}s`);
      checkAddress(target.url.hostname);
      const answer = await agentFor(clientConfig.caBundle ?? '', target.serverName).request({
        origin: target.url.origin,
        path: target.url.pathname + target.url.search,
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(review),
        signal: AbortSignal.any([signal, deadline]),
      });
      const text = await bounded(answer.body);
      if (answer.statusCode < 200 || answer.statusCode > 299) {
        throw new CallError(`the server rejected our request for an unknown reason (status ${answer.statusCode})`);
      }
      return text;
    } catch (error) {
      if (error instanceof CallError) throw error;
      if (error instanceof Unreachable) throw new CallError(`${shown}: ${error.message}`);
      if (deadline.aborted) throw new CallError(`${shown}: context deadline exceeded`);
      throw new CallError(`${shown}: ${reasonOf(error)}`);
    }
  };

  return {
    call: async (cluster, webhook, review, signal) => verdictOf(await post(cluster, webhook, review, signal), review),
    post,
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
      agents.clear();
    },
  };
}

export class CallError extends Error {}

/** There is nowhere to send the request. */
class Unreachable extends Error {}

/** The address as the server names it in errors. */
function shownUrl({ clientConfig: { url, service } }: Pick<Webhook, 'clientConfig'>): string {
  if (url !== undefined || !service) return (url ?? '').replace(/[?#].*$/, '');
  const { namespace, name, path = '/', port = 443 } = service;
  return `https://${name}.${namespace}.svc:${port}${path}`;
}

const untrusted = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** What went wrong with a connection, in the server's words for what happens most. */
function reasonOf(error: unknown): string {
  const { code, address, port, hostname, message } = error as Partial<Record<string, string>>;
  if (code === 'ECONNREFUSED') return `dial tcp ${address}:${port}: connect: connection refused`;
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`;
  if (code && untrusted.has(code)) {
    return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
  }
  return message ?? String(error);
}

interface Target {
  readonly url: URL;
  readonly serverName: string | undefined;
}

function targetOf(cluster: Cluster, { clientConfig }: Pick<Webhook, 'clientConfig'>, resolve: ServiceResolver): Target {
  if (clientConfig.url !== undefined) {
    const url = URL.canParse(clientConfig.url) ? new URL(clientConfig.url) : undefined;
    if (url?.protocol !== 'https:') throw new Unreachable('the webhook has no https URL');
    return { url, serverName: undefined };
  }
  const { service } = clientConfig;
  if (!service) throw new Unreachable('the webhook has neither a URL nor a service');
  const { namespace, name, path = '/', port = 443 } = service;
  if (!cluster.objects.get('/services', namespace, name))
    throw new Unreachable(`service ${JSON.stringify(name)} not found`);
  const address = resolve(cluster, { namespace, name, port });
  if (!address) throw new Unreachable(`no endpoints available for service ${JSON.stringify(name)}`);
  const serverName = `${name}.${namespace}.svc`;
  const host = isIP(address.host) === 6 ? `[${address.host}]` : address.host;
  return {
    url: new URL(path, `https://${host}:${address.port}`),
    serverName,
  };
}

/** Tenants choose these URLs: the platform's own addresses are not for them. Those of this machine and its networks are. */
function checkAddress(host: string): void {
  const bare = host.startsWith('[') ? host.slice(1, -1) : host;
  if (isIP(bare) !== 0 && !isAllowedAddress(bare, true)) throw new Unreachable(`the address ${bare} is not allowed`);
}

const checkedLookup: LookupFunction = (host, options, callback) => {
  systemLookup(host, { all: true }).then(
    (found) => {
      const [first] = found;
      if (!first || !found.every(({ address }) => isAllowedAddress(address, true))) {
        callback(new Error(`${host} leads to an address that is not allowed`), []);
      } else if (options.all) callback(null, found);
      else callback(null, first.address, first.family);
    },
    (error: NodeJS.ErrnoException) => callback(error, []),
  );
};

async function bounded(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > largestAnswer) throw new CallError('the answer is too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function verdictOf(text: string, review: JsonObject): Verdict {
  let answer: { kind?: unknown; apiVersion?: unknown; response?: Verdict };
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch (error) {
    throw new CallError(`the answer cannot be read: ${error instanceof Error ? error.message : ''}`);
  }
  if (answer?.kind !== 'AdmissionReview' || answer.apiVersion !== review.apiVersion) {
    throw new CallError(
      `expected webhook response of ${String(review.apiVersion)}, Kind=AdmissionReview, got ${String(answer?.apiVersion)}, Kind=${String(answer?.kind)}`,
    );
  }
  if (!answer.response) throw new CallError('webhook response was absent');
  const { uid } = review.request as { uid: string };
  if (answer.response.uid !== uid) {
    throw new CallError(
      `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(answer.response.uid ?? '')}`,
    );
  }
  return answer.response;
}
