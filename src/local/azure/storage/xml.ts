// As much of XML as the bodies of storage services have: elements, attributes of none that matter, text.

export interface XmlNode {
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlNode[];
}

const token =
  /<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<\/([\w:.-]{1,128})\s*>|<([\w:.-]{1,128})((?:\s+[\w:.-]{1,128}\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/gy;
const maxDepth = 10;
const maxNodes = 120_000;

/** The root element; undefined when the text is no well-formed XML of this kind. */
export function readXml(text: string): XmlNode | undefined {
  const root = { name: '', text: '', children: [] as Mutable[] };
  const open: Mutable[] = [root];
  let count = 0;
  token.lastIndex = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (token.lastIndex < text.length) {
    const match = token.exec(text);
    const inside = open.at(-1);
    if (match === null || inside === undefined) return undefined;
    const [, cdata, closed, opened, , isEmpty, plain] = match;
    if (cdata !== undefined) inside.text += cdata;
    else if (plain !== undefined) inside.text += unescaped(plain);
    else if (closed !== undefined) {
      if (open.length < 2 || inside.name !== closed) return undefined;
      open.pop();
    } else if (opened !== undefined) {
      if (++count > maxNodes || open.length > maxDepth) return undefined;
      const node: Mutable = { name: opened, text: '', children: [] };
      inside.children.push(node);
      if (isEmpty !== '/') open.push(node);
    }
  }
  return open.length === 1 && root.children.length === 1 && root.text.trim() === '' ? root.children[0] : undefined;
}

interface Mutable {
  name: string;
  text: string;
  children: Mutable[];
}

const entities: { readonly [name: string]: string } = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

export function child(node: XmlNode | undefined, name: string): XmlNode | undefined {
  return node?.children.find((one) => one.name === name);
}

export function textOf(node: XmlNode | undefined, name: string): string | undefined {
  return child(node, name)?.text.trim();
}

export const declaration = '<?xml version="1.0" encoding="utf-8"?>';

/** Content is written as it is: it is made by this function, or escaped. Undefined leaves the element out. */
export function element(name: string, content: string | readonly string[] | undefined): string {
  if (content === undefined) return '';
  const inner = typeof content === 'string' ? content : content.join('');
  return inner === '' ? `<${name} />` : `<${name}>${inner}</${name}>`;
}

/** An element that holds a text. */
export function field(name: string, text: string | number | boolean | undefined): string {
  return text === undefined ? '' : element(name, escaped(String(text)));
}

export function escaped(text: string): string {
  let safe = '';
  for (const character of text) safe += replacements[character] ?? (isAllowed(character) ? character : '\ufffd');
  return safe;
}

const replacements: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** XML has no way to write the others. */
function isAllowed(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d;
  return code !== 0xfffe && code !== 0xffff && !(code >= 0xd800 && code <= 0xdfff);
}
