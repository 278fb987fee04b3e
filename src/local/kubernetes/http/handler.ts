// From a request to its answer, in this order: what it asks for, who asks, whether they may, the answer; then the audit line.
import { randomUUID } from 'node:crypto';
import { type AuditLog, annotationsOf } from '../access/audit.ts';
import { accessForbidden } from '../access/forbidden.ts';
import type { AccessAnswer, AccessQuestion, User } from '../access/user.ts';
import type { HostedCluster } from '../clusters.ts';
import { exactName } from '../registry/field-selector.ts';
import { badRequest, PlainRefusal, StatusError } from '../status.ts';
import { type Exchange, headerOf } from './exchange.ts';
import { refusalForm } from './negotiate.ts';
import { type RequestInfo, requestInfo } from './request-info.ts';
import { sendAnswer, serveResource } from './resources.ts';
import { type Sending, sendBytes, sendObject } from './respond.ts';
import type { Extensions } from './routes.ts';
import { createWarnings, type Warnings } from './warnings.ts';

export interface HandlerOptions {
  readonly extensions: Extensions;
  /** Fires when the server stops. */
  readonly stopping: AbortSignal;
  /** One answered request, for metrics. */
  readonly observe: (request: { verb: string; resource: string; status: number; seconds: number }) => void;
}

export type Handler = (exchange: Exchange, cluster: HostedCluster) => void;

const noQuery = new URLSearchParams();

function questionOf(info: RequestInfo): AccessQuestion {
  if (!info.isResource) return { kind: 'path', verb: info.verb, path: info.path };
  const { verb, group, version, resource, subresource, namespace } = info;
  const name = info.name || nameSelected(info);
  return { kind: 'resource', verb, group, version, resource, subresource, namespace, name };
}

/** A list or watch of one name is a question about that name, for those who may see no others. */
function nameSelected({ verb, query }: RequestInfo): string {
  const selector = verb === 'list' || verb === 'watch' ? query.get('fieldSelector') : null;
  return selector ? exactName(selector) : '';
}

/** The answer to an error: what it says where it is a refusal, a plain 500 where it is a fault of ours. */
function statusOf(error: unknown, cluster: HostedCluster, exchange: Exchange): StatusError {
  if (error instanceof StatusError) return error;
  if (!exchange.closed) {
    cluster.log.error({ err: error, method: exchange.method, url: exchange.url }, 'a request failed unexpectedly');
  }
  const message = error instanceof Error ? error.message : String(error);
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}

export function createHandler({ extensions, stopping, observe }: HandlerOptions): Handler {
  async function serve(exchange: Exchange, cluster: HostedCluster, info: RequestInfo, state: State): Promise<void> {
    const { access } = cluster;
    const found = access.authenticate({ connection: exchange.socket, headers: exchange.headers });
    const sender = found instanceof Promise ? await found : found;
    const user = access.actingUser(sender, exchange.rawHeaders, info.path);
    state.sender = sender;
    state.user = user;
    const question = questionOf(info);
    state.question = question;
    state.answer = access.mayDo(user, question);
    if (!state.answer.allowed) throw accessForbidden(user, question, state.answer.reason);
    const { sending } = state;
    const request = { exchange, cluster, user, info, warnings: state.warnings, sending, extensions, stopping };
    if (info.isResource && (await serveResource(request))) return;
    if (!info.isResource) {
      const { path, query } = info;
      const asked = {
        cluster,
        method: exchange.method,
        path,
        query,
        header: (name: string) => headerOf(exchange, name),
      };
      for (const handler of extensions.paths) {
        const answer = await handler(asked);
        if (!answer) continue;
        sendAnswer(sending, answer, refusalForm(exchange.headers.accept));
        return;
      }
      const [, root, group = ''] = path.split('/');
      if (root === 'api' || (root === 'apis' && group !== '' && cluster.hasBuiltinGroup(group))) {
        throw new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
      }
    }
    sendBytes(sending, 404, Buffer.from('404 page not found\n'), 'text/plain; charset=utf-8');
  }

  return (exchange, cluster) => {
    const started = performance.now();
    const info = requestInfo(exchange.method, exchange.url);
    const given = exchange.headers['audit-id'];
    const warnings = createWarnings();
    const auditId = typeof given === 'string' && given.length <= 64 ? given : randomUUID();
    const sending: Sending = { exchange, query: info?.query ?? noQuery, auditId, warnings };
    const state: State = { sending, warnings };
    const status = statusSeen(exchange);
    exchange.onClose(() => {
      const seconds = (performance.now() - started) / 1000;
      const verb = info?.verb ?? '';
      observe({ verb, resource: info?.resource ?? '', status: status.code, seconds });
      if (extensions.audit) audit(extensions.audit, cluster, exchange, state, verb, status.code, seconds);
    });
    const refuse = (error: unknown): void => {
      if (error instanceof PlainRefusal) {
        sendBytes(sending, error.status.code, Buffer.from(`${error.message}\n`), 'text/plain; charset=utf-8');
        return;
      }
      const { status: refusal } = statusOf(error, cluster, exchange);
      const seconds = refusal.details?.retryAfterSeconds;
      const more = seconds === undefined ? undefined : { 'retry-after': String(seconds) };
      sendObject(sending, refusal.code, refusal, refusalForm(exchange.headers.accept), more);
    };
    if (!info) {
      refuse(badRequest('the path of the request cannot be decoded'));
      return;
    }
    const first = cluster.firstUse();
    const served = first
      ? first.then(() => serve(exchange, cluster, info, state))
      : serve(exchange, cluster, info, state);
    served.catch((error: unknown) => {
      try {
        refuse(error);
      } catch (again) {
        cluster.log.error({ err: again, url: exchange.url }, 'a refusal could not be sent');
        exchange.answer(500, { 'content-type': 'text/plain' }, Buffer.from('Internal error\n'));
      }
    });
  };
}

interface State {
  readonly sending: Sending;
  readonly warnings: Warnings;
  /** Whom the request acts as. */
  user?: User;
  sender?: User;
  question?: AccessQuestion;
  answer?: AccessAnswer;
}

function audit(
  log: AuditLog,
  cluster: HostedCluster,
  exchange: Exchange,
  { sending, sender, user, question, answer }: State,
  verb: string,
  code: number,
  seconds: number,
): void {
  const ended = cluster.now();
  const userAgent = exchange.headers['user-agent'];
  log.record({
    auditId: sending.auditId,
    cluster: cluster.name,
    requestUri: exchange.url,
    verb,
    user: sender,
    ...(user && user !== sender ? { impersonated: user } : {}),
    sourceIp: exchange.socket.remoteAddress ?? '',
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(question ? { question } : {}),
    ...(answer ? { answer } : {}),
    annotations: annotationsOf(exchange),
    code,
    receivedAt: ended - seconds * 1000,
    completedAt: ended,
  });
}

/** Remembers the status that an exchange is answered with. */
function statusSeen(exchange: Exchange): { code: number } {
  const seen = { code: 0 };
  const { answer, stream, upgrade } = exchange;
  const noting = exchange as { -readonly [K in keyof Exchange]: Exchange[K] };
  noting.answer = (status, headers, body) => {
    seen.code = status;
    answer.call(exchange, status, headers, body);
  };
  noting.stream = (status, headers) => {
    seen.code = status;
    return stream.call(exchange, status, headers);
  };
  if (upgrade) {
    noting.upgrade = (headers) => {
      seen.code = 101;
      return upgrade.call(exchange, headers);
    };
  }
  return seen;
}
