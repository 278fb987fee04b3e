import { randomInt } from 'node:crypto';

/** No vowels and nothing that looks like them, so that no words come out. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longestName = 63;

/** A name for an object that leaves it to the server. */
export function generatedName(prefix: string): string {
  let name = prefix.slice(0, longestName - suffixLength);
  for (let count = 0; count < suffixLength; count += 1) name += alphabet[randomInt(alphabet.length)];
  return name;
}
