// The plain listener: HTTP without TLS or authentication, for tools on this machine that come by a port-forward. Anyone on the
// machine can reach it, and so can every web page its user has open, hence its rules.
import { createServer, type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { App } from './caller.ts';
import {
  defaultLimits,
  type Guard,
  isHttp2,
  type Limits,
  ListenError,
  type Listener,
  type Refusal,
  serve,
  serverOptions,
} from './http-server.ts';
import type { Logger } from './log.ts';
import { denyPattern, isDenied, plainSegments } from './plain-path.ts';
import { givesParameter } from './plain-query.ts';

export interface PlainListenerOptions {
  /** A loopback address: `127.0.0.1` unless given, `::1`, or `localhost` for `127.0.0.1`. Nothing else is bound. */
  readonly host?: string;
  /** 0 takes a free one; the listener says which. */
  readonly port: number;
  /** Paths not served besides `/admin`, in the form of plain-path.ts's `denyPattern`: those that give out credentials. */
  readonly deny?: readonly string[];
  /**
   * What `Host` may name besides localhost, 127.0.0.1 and [::1] with the listener's own port: `name`, with that port, or
   * `name:port` for who comes through a forward of another port.
   */
  readonly hostNames?: readonly string[];
  readonly limits?: Partial<Limits>;
  readonly logger?: Logger;
}

/**
 * Puts an app on a loopback address without TLS. Requests are refused when they ask for `/admin`, a denied path or the admin
 * API (`api-version=admin`) in any spelling, do not name this listener as their host, or come from a web page. Headers by which others vouch for a caller
 * (`x-ms-*`, `Referer`, `Forwarded`, `X-Forwarded-*`) are taken away, upgrades are not made, and callers are `plain`.
 */
export async function listenPlain(app: App, options: PlainListenerOptions): Promise<Listener> {
  const host = loopbackAddress(options.host ?? '127.0.0.1');
  const limits = { ...defaultLimits, ...options.limits };
  const denied = ['/admin', ...(options.deny ?? [])].map(denyPattern);
  const server = createServer(serverOptions(limits));
  let hosts: ReadonlySet<string> = new Set();
  const listener = await serve({
    server,
    scheme: 'http',
    app,
    host,
    port: options.port,
    limits,
    logger: options.logger,
    guard: (request) => plainGuard(request, hosts, denied),
  });
  hosts = allowedHosts(listener.port, options.hostNames ?? []);
  return listener;
}

function loopbackAddress(host: string): string {
  const address = host === 'localhost' ? '127.0.0.1' : host;
  if (isLoopback(address)) return address;
  throw new ListenError(
    `the plain listener cannot be put on ${JSON.stringify(host)}: it has no authentication and binds only loopback addresses (127.0.0.1, ::1); use a TLS listener there`,
  );
}

function isLoopback(address: string): boolean {
  // Only the usual notation: ipaddr.js also knows others, which different libraries read differently.
  return isIP(address) !== 0 && ipaddr.process(address).range() === 'loopback';
}

const httpPort = 80;

function allowedHosts(port: number, names: readonly string[]): ReadonlySet<string> {
  const own = ['localhost', '127.0.0.1', '[::1]', ...names.filter((name) => !/:\d+$/.test(name))];
  const hosts = own.flatMap((name) => (port === httpPort ? [name, `${name}:${port}`] : [`${name}:${port}`]));
  return new Set([...hosts, ...names.filter((name) => /:\d+$/.test(name))].map((name) => name.toLowerCase()));
}

type Verdict = ReturnType<Guard>;

function plainGuard(
  request: Parameters<Guard>[0],
  hosts: ReadonlySet<string>,
  denied: readonly (readonly string[])[],
): Verdict {
  if (isHttp2(request)) return { refused: notForPages };
  if (!isLoopback(request.socket.remoteAddress ?? '')) return { refused: notLocal };
  const segments = plainSegments(request.url ?? '');
  if (!segments) return { refused: badTarget };
  const told = tellingHeaders(request.rawHeaders);
  if (told.hosts.length !== 1 || !hosts.has(told.hosts[0]?.toLowerCase() ?? '')) return { refused: otherHost };
  if (told.fromPage) return { refused: notForPages };
  if (isDenied(segments, denied)) return { refused: notHere };
  if (givesParameter(request.url ?? '', 'api-version', 'admin')) return { refused: notAdmin };
  if (told.claims) forgetClaims(request);
  return { caller: plain };
}

const plain = { kind: 'plain' } as const;

/** Where a browser says a request comes from: the address bar, or a page of this very listener. Other clients say nothing. */
const sites: ReadonlySet<string> = new Set(['none', 'same-origin']);

/** Headers by which a proxy or ARM vouches for a caller. */
const claims = /^(x-ms-.*|x-forwarded(-.*)?|forwarded|referer|x-real-ip|x-original-.*|x-rewrite-url|via)$/;

interface TellingHeaders {
  readonly hosts: readonly string[];
  readonly fromPage: boolean;
  readonly claims: boolean;
}

/** Reads the headers as they came: Node's own view of them keeps only one where a request has several. */
function tellingHeaders(raw: readonly string[]): TellingHeaders {
  const hosts: string[] = [];
  let fromPage = false;
  let someClaims = false;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]?.toLowerCase() ?? '';
    const value = raw[index + 1] ?? '';
    if (name === 'host') hosts.push(value);
    else if (name === 'origin') fromPage = true;
    else if (name === 'sec-fetch-site') fromPage ||= !sites.has(value);
    else someClaims ||= claims.test(name);
  }
  return { hosts, fromPage, claims: someClaims };
}

function forgetClaims(request: IncomingMessage): void {
  // Node fills each of these views from the raw headers when it is first read, so both are read before those change.
  for (const headers of [request.headers, request.headersDistinct]) {
    for (const name of Object.keys(headers)) if (claims.test(name)) delete headers[name];
  }
  request.rawHeaders = request.rawHeaders.filter((_, index, all) => {
    const name = all[index - (index % 2)] ?? '';
    return !claims.test(name.toLowerCase());
  });
}

const badTarget: Refusal = {
  status: 400,
  code: 'BadRequestTarget',
  message: 'The request target must be a path without dot segments, backslashes or broken encoding.',
};

const otherHost: Refusal = {
  status: 421,
  code: 'MisdirectedRequest',
  message: 'The Host header does not name this listener: use localhost or 127.0.0.1 with its port.',
};

const notForPages: Refusal = {
  status: 403,
  code: 'RequestFromWebPage',
  message: 'This listener does not serve requests that come from web pages.',
};

const notHere: Refusal = {
  status: 403,
  code: 'NotServedHere',
  message: 'This path is served over TLS to authenticated callers only.',
};

/** The classic resource provider's admin API has the paths of the public one and a version of its own. */
const notAdmin: Refusal = {
  status: 403,
  code: 'NotServedHere',
  message: 'The admin API (api-version=admin) is served over TLS to authenticated callers only.',
};

const notLocal: Refusal = {
  status: 403,
  code: 'NotLocal',
  message: 'This listener serves this machine only.',
};
