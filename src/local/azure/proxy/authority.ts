// `host:port` as CONNECT and absolute URLs name it.
import { isIP } from 'node:net';

export interface Authority {
  /** In lower case; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
}

const authorityForm = /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*)\.?):(\d{1,5})$/i;

/** Undefined for anything that is not exactly a name or address and a port. */
export function parseAuthority(text: string): Authority | undefined {
  const [, address, name, digits] = authorityForm.exec(text) ?? [];
  const host = (address ?? name ?? '').toLowerCase();
  const port = Number(digits);
  if (host === '' || host.length > 253 || !(port >= 1 && port <= 65_535)) return undefined;
  return address !== undefined && isIP(address) !== 6 ? undefined : { host, port };
}

/** Whether a host is this machine itself. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
