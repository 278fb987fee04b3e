// The names a certificate may carry, checked before they are written into one, and the patterns that names are allowed by.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { PkiError } from './errors.ts';

/** Everything that says who a certificate is for. */
export interface CertificateNames {
  readonly commonName: string;
  /** Kubernetes reads these as groups. */
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  /** IPv4 and IPv6, without zone. */
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
}

/**
 * One rule of an allow list. A suffix that starts with a dot matches on a label boundary by itself (`.aro.local` matches
 * `rp.aro.local`, neither `aro.local` nor `evilaro.local`). Matching is by exact case; DNS names are kept in lower case.
 */
export type NamePattern = { readonly exact: string } | { readonly suffix: string } | { readonly prefix: string };

/** An empty suffix or prefix matches nothing, so that a value left blank by mistake does not allow everything. */
export function matchesName(pattern: NamePattern, name: string): boolean {
  if ('exact' in pattern) return name === pattern.exact;
  if ('suffix' in pattern) {
    return pattern.suffix !== '' && name.length > pattern.suffix.length && name.endsWith(pattern.suffix);
  }
  return pattern.prefix !== '' && name.length > pattern.prefix.length && name.startsWith(pattern.prefix);
}

/** RFC 5280's upper bound for common names and organizations; other implementations refuse longer ones. */
export const subjectLength = 64;
const dnsLength = 253;
const dnsLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const printable = /^[^\p{Cc}\p{Cs}]+$/u;
const uriForm = /^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/i;

/**
 * The names in the form they are written in: DNS names in lower case, IPv6 addresses in full, none twice. Throws
 * `bad-name` for a name no certificate may hold.
 */
export function checkNames(names: CertificateNames): CertificateNames {
  return {
    commonName: names.commonName === '' ? '' : subjectText('common name', names.commonName),
    organizations: unique(names.organizations.map((name) => subjectText('organization', name))),
    dnsNames: unique(names.dnsNames.map(dnsName)),
    ipAddresses: unique(names.ipAddresses.map(ipAddress)),
    uris: unique(names.uris.map(uri)),
  };
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

function subjectText(what: string, text: string): string {
  if (text.length <= subjectLength && text.trim() === text && printable.test(text)) return text;
  throw badName(what, text, `1 to ${subjectLength} printable characters, no blanks at its ends`);
}

function dnsName(name: string): string {
  const lower = name.toLowerCase();
  const labels = lower.startsWith('*.') ? lower.slice(2).split('.') : lower.split('.');
  const allowed = lower.length <= dnsLength && labels.every((label) => dnsLabel.test(label)) && isIP(lower) === 0;
  if (allowed && !/^\d+$/.test(labels.at(-1) ?? '')) return lower;
  throw badName('DNS name', name, 'labels of letters, digits and hyphens joined by dots; `*.` only in front');
}

function ipAddress(address: string): string {
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 4) return address;
  if (version === 6) return ipaddr.IPv6.parse(address).toNormalizedString();
  throw badName('IP address', address, 'an IPv4 or IPv6 address without zone or port');
}

function uri(text: string): string {
  if (uriForm.test(text) && URL.canParse(text)) return text;
  throw badName('URI', text, 'an absolute URI in ASCII');
}

function badName(what: string, given: string, allowed: string): PkiError {
  return new PkiError('bad-name', `${JSON.stringify(given)} is not a ${what} for a certificate: allowed is ${allowed}`);
}
