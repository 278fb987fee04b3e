// Data of records between the text of zone files and the form of packets.
import { isIPv4, isIPv6 } from 'node:net';
import type { Answer, CaaData } from 'dns-packet';
import type { DnsAnswer } from '../kernel/network.ts';

/** Undefined for data that is not what its type holds: such a record is left out rather than sent wrong. */
export function packetAnswer({ name, type, ttlSeconds, data }: DnsAnswer): Answer | undefined {
  const base = { name: bare(name), ttl: Math.max(0, Math.floor(ttlSeconds)), class: 'IN' } as const;
  const words = data.trim().split(/\s+/);
  const [first = '', second = ''] = words;
  const numbers = words.map(Number);
  const isNumber = (...at: readonly number[]): boolean =>
    at.every((index) => Number.isInteger(numbers[index]) && (numbers[index] ?? -1) >= 0);
  switch (type) {
    case 'A':
      return isIPv4(first) ? { ...base, type, data: first } : undefined;
    case 'AAAA':
      return isIPv6(first) ? { ...base, type, data: first } : undefined;
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return first === '' ? undefined : { ...base, type, data: bare(first) };
    case 'MX':
      if (words.length !== 2 || !isNumber(0)) return undefined;
      return { ...base, type, data: { preference: numbers[0], exchange: bare(second) } };
    case 'SRV': {
      const [priority = 0, weight = 0, port = 0] = numbers;
      if (words.length !== 4 || !isNumber(0, 1, 2)) return undefined;
      return { ...base, type, data: { priority, weight, port, target: bare(words[3] ?? '') } };
    }
    case 'SOA': {
      const [, , serial, refresh, retry, expire, minimum] = numbers;
      if (words.length !== 7 || !isNumber(2, 3, 4, 5, 6)) return undefined;
      return {
        ...base,
        type,
        data: { mname: bare(first), rname: bare(second), serial, refresh, retry, expire, minimum },
      };
    }
    case 'CAA': {
      const [, tag, value] = /^\S+\s+(\S+)\s+(.*)$/s.exec(data.trim()) ?? [];
      if (tag === undefined || value === undefined || !isNumber(0)) return undefined;
      return {
        ...base,
        type,
        data: { flags: numbers[0], tag: tag as CaaData['tag'], value: characterStrings(value).join('') },
      };
    }
    case 'TXT':
      return { ...base, type, data: characterStrings(data).flatMap(chunks) };
  }
}

/** Names in packets have no dot at the end. */
function bare(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** The strings of a TXT record: quoted ones, or the whole text when it has no quotes. */
function characterStrings(text: string): readonly string[] {
  const trimmed = text.trim();
  if (!trimmed.startsWith('"')) return [text];
  return [...trimmed.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map(([, inner = '']) => inner.replaceAll(/\\(.)/gs, '$1'));
}

/** A string in a packet has at most 255 bytes. */
function chunks(text: string): readonly Buffer[] {
  const bytes = Buffer.from(text);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length || at === 0; at += 255) parts.push(bytes.subarray(at, at + 255));
  return parts;
}
