// Formats by name: format.dns1123Label().validate(text) gives the messages, or nothing.
import { hasFormat } from '../../crd/formats.ts';
import { dns1035Label, dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../schema/names.ts';
import type { Declaration } from '../overloads.ts';
import { opaqueNames } from '../types.ts';
import { List, Opaque, Optional } from '../values.ts';

type Check = (text: string) => string[];

/** Names that may end in a dash are the beginning of one. */
const prefix =
  (check: Check): Check =>
  (text) =>
    check(text.endsWith('-') ? `${text.slice(0, -1)}a` : text);

const byFormat =
  (format: string, message: string): Check =>
  (text) =>
    hasFormat(format, text) ? [] : [message];

const formats: Readonly<Record<string, Check>> = {
  dns1123Label,
  dns1123Subdomain,
  dns1035Label,
  dns1123LabelPrefix: prefix(dns1123Label),
  dns1123SubdomainPrefix: prefix(dns1123Subdomain),
  dns1035LabelPrefix: prefix(dns1035Label),
  qualifiedName,
  labelValue,
  uri: byFormat('uri', 'invalid URL'),
  uuid: byFormat('uuid', 'does not match the UUID format'),
  byte: byFormat('byte', 'invalid base64'),
  date: byFormat('date', 'invalid date'),
  datetime: byFormat('datetime', 'invalid datetime'),
};

const namedFormat = (name: string): Opaque => new Opaque(opaqueNames.format, name, name);

function messages({ same }: Opaque, text: string): Optional {
  const found = formats[same]?.(text) ?? [];
  return new Optional(found.length > 0 ? new List(found) : undefined);
}

export const formatFunctions: readonly Declaration[] = [
  ...Object.keys(formats).map((name): Declaration => [`format.${name}(): format`, () => namedFormat(name)]),
  [
    'format.named(string): optional<format>',
    (name: string) => new Optional(Object.hasOwn(formats, name) ? namedFormat(name) : undefined),
  ],
  ['.validate(format, string): optional<list<string>>', messages],
];
