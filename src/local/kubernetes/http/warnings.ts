// The warnings of one request. However many things are wrong, what is sent of them stays small.

/** Beyond so many characters in all, each warning is cut; then, when there are as many again, no more are taken. */
const mostCharacters = 4096;
const mostOfEach = 256;

export interface Warnings {
  /** Takes a warning; the same text counts once, and one with control characters, which no header can carry, does not. */
  add(text: string): void;
  /** Values of the Warning header, in the order taken. */
  readonly headers: readonly string[];
}

const controls = /\p{Cc}/u;

/** RFC 7234's form: code, agent, text in quotes; as bytes, which is what Node takes for a header. */
const warningHeader = (text: string): string =>
  `299 - "${Buffer.from(text).toString('latin1').replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** The start of a text and how many characters it has; a long one is not read to its end. */
function start(text: string, most: number): { readonly text: string; readonly length: number } {
  const near = text.slice(0, most * 2);
  const characters = [...near];
  if (text.length <= most && characters.length === text.length) return { text, length: text.length };
  return characters.length > most
    ? { text: characters.slice(0, most).join(''), length: most }
    : { text: near, length: characters.length };
}

export function createWarnings(): Warnings {
  const taken = new Set<string>();
  let written = 0;
  let cutting = false;
  const full = (): boolean => cutting && written >= mostCharacters;
  return {
    add(text) {
      if (text === '' || full() || taken.has(text)) return;
      taken.add(text);
      const { length } = start(text, cutting ? mostOfEach : mostCharacters + 1);
      if (controls.test(text)) return;
      if (cutting || written + length <= mostCharacters) {
        written += length;
        return;
      }
      cutting = true;
      written = 0;
      for (const one of taken) if (!controls.test(one)) written += start(one, mostOfEach).length;
    },
    get headers() {
      const good = [...taken].filter((text) => !controls.test(text));
      return good.map((text) => warningHeader(cutting ? start(text, mostOfEach).text : text));
    },
  };
}
