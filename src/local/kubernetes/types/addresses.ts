// IP addresses and ranges in the fields of objects.
import ipaddr from 'ipaddr.js';
import { invalidValue } from '../schema/field-errors.ts';
import type { FieldError } from '../status.ts';

/** IPv4 without leading zeros, or IPv6 without a zone. */
export function isAddress(text: string): boolean {
  if (text.includes('%')) return false;
  return text.includes(':') ? ipaddr.IPv6.isValid(text) : ipaddr.IPv4.isValidFourPartDecimal(text);
}

export const isIPv6 = (text: string): boolean => text.includes(':');

export const validateAddress = (field: string, text: string): FieldError[] =>
  isAddress(text) ? [] : [invalidValue(field, text, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];

/** `10.9.8.0/24`, also when bits beyond the prefix are set. */
export function isCidr(text: string): boolean {
  const [address = '', prefix = '', ...more] = text.split('/');
  if (more.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return false;
  return isAddress(address) && Number(prefix) <= (isIPv6(address) ? 128 : 32);
}

export const validateCidr = (field: string, text: string): FieldError[] =>
  isCidr(text) ? [] : [invalidValue(field, text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];

const specialRanges: Readonly<Record<string, string>> = {
  loopback: 'may not be in the loopback range (127.0.0.0/8, ::1/128)',
  linkLocal: 'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  multicast: 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
  unspecified: 'may not be unspecified (0.0.0.0)',
};

/** An address that something else can reach: not loopback, link-local and the like. */
export function validateReachable(field: string, text: string): FieldError[] {
  if (!isAddress(text)) return [invalidValue(field, text, 'must be a valid IP address')];
  const range = ipaddr.parse(text).range();
  if (range === 'multicast' && !/^(224\.0\.0\.|ff02:)/i.test(text)) return [];
  const detail = specialRanges[range];
  if (detail === undefined) return [];
  return [invalidValue(field, text, range === 'unspecified' ? `may not be unspecified (${text})` : detail)];
}
