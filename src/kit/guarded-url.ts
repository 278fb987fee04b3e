// Which URLs and addresses the guarded client may go to.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The rule that refused a request, or what went wrong with one that was allowed:
 * - `url`: not a plain absolute URL: user information, encoded or non-ASCII host, trailing dot, blanks
 * - `scheme`, `host`, `port`: not https, not a configured host, not a configured port
 * - `header`: a header that the client sets itself
 * - `address`: the host's name leads to an address that is not public
 * - `deadline`, `size`: took too long, answered too much
 * - `connection`: no such host, no connection, no valid certificate, no proper answer
 */
export type GuardRule = 'url' | 'scheme' | 'host' | 'port' | 'header' | 'address' | 'deadline' | 'size' | 'connection';

/** The message names the rule and at most the host: paths and queries may hold secrets. */
export class GuardedRequestError extends Error {
  readonly rule: GuardRule;

  constructor(rule: GuardRule, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GuardedRequestError';
    this.rule = rule;
  }
}

/** Hosts by name: `login.example.com` is that host, `.example.com` every host below it. */
export type HostPattern = string;

const labels = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const patternForm = new RegExp(`^\\.?${labels}(?:\\.${labels})*$`);

/** Throws for a pattern that cannot match, or would match more than it says. Returns it in lower case. */
export function checkHostPattern(pattern: HostPattern): HostPattern {
  const lower = pattern.toLowerCase();
  if (patternForm.test(lower) && isIP(lower) === 0) return lower;
  throw new TypeError(
    `${JSON.stringify(pattern)} is not a host pattern: write login.example.com for one host, .example.com for those below`,
  );
}

export function matchesHost(pattern: HostPattern, host: string): boolean {
  return pattern.startsWith('.') ? host.length > pattern.length && host.endsWith(pattern) : host === pattern;
}

/** The only form of URL that every library reads alike: ASCII, a bare name, perhaps a port. */
const urlForm = /^https:\/\/([A-Za-z0-9._-]+)(?::([0-9]{1,5}))?(?=[/?#]|$)[\x21-\x5b\x5d-\x7e]*$/i;

/** Reads a URL and holds it against the allowed hosts and ports. */
export function checkUrl(text: string, hosts: readonly HostPattern[], ports: readonly number[]): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw new GuardedRequestError('url', 'not an absolute URL');
  if (url.protocol !== 'https:') throw new GuardedRequestError('scheme', 'the URL must be https');
  const host = urlForm.exec(text)?.[1]?.toLowerCase();
  if (host === undefined || host !== url.hostname || host.endsWith('.') || isIP(host) !== 0) {
    throw new GuardedRequestError(
      'url',
      'the URL must name its host plainly: no user information, no IP address, no encoding, no trailing dot',
    );
  }
  if (!hosts.some((pattern) => matchesHost(pattern, host))) {
    throw new GuardedRequestError('host', `${host} is not among the allowed hosts`);
  }
  const port = url.port === '' ? httpsPort : Number(url.port);
  if (!ports.includes(port)) throw new GuardedRequestError('port', `port ${port} of ${host} is not allowed`);
  return url;
}

export const httpsPort = 443;

/** What is outside it and has no range of its own is not in use, or an old way to write an IPv4 address. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** `::10.0.0.1`, which ipaddr.js takes for the IPv4 address itself. */
const oldIPv4Form = /^(?!::ffff:).*\./i;

const privateRanges: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal']);

/** Public by its range, yet the host of a virtual machine in Azure. */
const platformAddresses: ReadonlySet<string> = new Set(['168.63.129.16', '169.254.169.254', 'fd00:ec2::254']);

/** Whether an address may be connected to: a public one, or with `allowPrivate` also one of this machine or its networks. */
export function isAllowedAddress(address: string, allowPrivate: boolean): boolean {
  if (isIP(address) === 0 || (isIP(address) === 6 && oldIPv4Form.test(address))) return false;
  const parsed = ipaddr.process(address.split('%', 1)[0] ?? '');
  if (platformAddresses.has(parsed.toString())) return false;
  const range = parsed.range();
  if (range === 'unicast') return parsed.kind() === 'ipv4' || parsed.match(globalUnicast);
  return allowPrivate && privateRanges.has(range);
}
