// How the server's decoder sees each built-in type: its members in order, what they are made of, and which are left out when
// empty. The published schemas do not say this, and it decides what a stored object looks like.
//
// A line of shapes.json reads `member:kind:flags …`; `*` is a pointer, `[]` a list, `map[…]` a map, `!` a type that reads itself,
// `string=v1.Phase` a named string, `~` the package of meta/v1. Flags: e is left out when empty, z when zero.
import { readFileSync } from 'node:fs';

export type Kind =
  | { readonly is: 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes'; readonly goType: string }
  | { readonly is: 'list'; readonly of: Kind; readonly goType: string }
  | { readonly is: 'map'; readonly of: Kind; readonly goType: string }
  | { readonly is: 'struct'; readonly name: string; readonly goType: string }
  /** Reads itself: times, quantities, raw JSON … */
  | { readonly is: 'own'; readonly name: string; readonly goType: string };

export interface Member {
  readonly name: string;
  readonly kind: Kind;
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
}

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

const goTypeOf = (name: string): string => name.split('.').slice(-2).join('.');

function parseKind(text: string): Kind {
  if (text.startsWith('*')) return parseKind(text.slice(1));
  if (text.startsWith('[]')) {
    const of = parseKind(text.slice(2));
    return { is: 'list', of, goType: `[]${of.goType}` };
  }
  if (text.startsWith('map[')) {
    const end = text.indexOf(']');
    const key = parseKind(text.slice(4, end));
    const of = parseKind(text.slice(end + 1));
    return { is: 'map', of, goType: `map[${key.goType}]${of.goType}` };
  }
  const [basic = '', named] = text.split('=');
  switch (basic) {
    case 'string':
    case 'bool':
    case 'int32':
    case 'int64':
    case 'float64':
      return { is: basic, goType: named ?? basic };
    case 'bytes':
      return { is: basic, goType: '[]uint8' };
  }
  const own = basic.startsWith('!');
  const name = (own ? basic.slice(1) : basic).replace('~', meta);
  return { is: own ? 'own' : 'struct', name, goType: goTypeOf(name) };
}

function parseMember(text: string): Member {
  const [name = '', kind = '', flags = ''] = text.split(':');
  return {
    name,
    kind: parseKind(kind),
    pointer: kind.startsWith('*'),
    omitEmpty: flags.includes('e'),
    omitZero: flags.includes('z'),
  };
}

let lines: Readonly<Record<string, string>> | undefined;
const shapes = new Map<string, readonly Member[]>();

/** The members of a definition such as `io.k8s.api.apps.v1.DeploymentSpec`. Throws when there is none: names come from our data. */
export function shapeOf(name: string): readonly Member[] {
  const known = shapes.get(name);
  if (known) return known;
  lines ??= JSON.parse(readFileSync(new URL('./shapes.json', import.meta.url), 'utf8')) as Record<string, string>;
  const line = Object.hasOwn(lines, name) ? lines[name] : undefined;
  if (line === undefined) throw new Error(`no shape is known by the name ${name}`);
  const members = line === '' ? [] : line.split(' ').map(parseMember);
  shapes.set(name, members);
  return members;
}
