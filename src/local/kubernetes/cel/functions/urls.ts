// URLs: url(…), isURL(…). Absolute ones, and absolute paths.
import type { Declaration } from '../overloads.ts';
import { opaqueNames } from '../types.ts';
import { CelError, List, Opaque, PlainMap } from '../values.ts';

interface Parts {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

const form = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/;

/** Reads a URL as Go's ParseRequestURI does; undefined for what it does not take. */
function parse(text: string): Parts | undefined {
  if (/[\s\p{Cc}]/u.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  const [all, scheme = '', authority = '', path = '', query = ''] = form.exec(text) ?? [];
  if (all === undefined || (scheme === '' && !text.startsWith('/'))) return undefined;
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (scheme !== '' && authority === '' && !path.startsWith('/')) return undefined;
  const open = /^\[[0-9a-fA-F:.%]*\](?::\d*)?$|^[^[\]:]*(?::\d*)?$/;
  return open.test(host) ? { scheme: scheme.toLowerCase(), host, path, query } : undefined;
}

function strict(text: string): Parts {
  const parts = parse(text);
  if (!parts)
    throw new CelError(
      `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
    );
  return parts;
}

const partsOf = ({ value }: Opaque): Parts => value as Parts;
const hostName = (host: string): string => host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The values of a query by name. */
function queryOf(query: string): PlainMap {
  const found = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const known = found.get(name);
    if (known) known.push(value);
    else found.set(name, [value]);
  }
  return new PlainMap([...found].map(([name, values]) => [name, new List(values)] as const));
}

export const urlFunctions: readonly Declaration[] = [
  ['isURL(string): bool', (text: string) => parse(text) !== undefined],
  ['url(string): url', (text: string) => new Opaque(opaqueNames.url, strict(text), text)],
  ['.getScheme(url): string', (url: Opaque) => partsOf(url).scheme],
  ['.getHost(url): string', (url: Opaque) => partsOf(url).host],
  ['.getHostname(url): string', (url: Opaque) => hostName(partsOf(url).host)],
  ['.getPort(url): string', (url: Opaque) => /:(\d*)$/.exec(partsOf(url).host)?.[1] ?? ''],
  ['.getEscapedPath(url): string', (url: Opaque) => encodeURI(decoded(partsOf(url).path))],
  ['.getQuery(url): map<string, list<string>>', (url: Opaque) => queryOf(partsOf(url).query)],
];
