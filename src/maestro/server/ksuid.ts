// K-sortable ids, as the operations of Maestro's REST API have them: 4 bytes of seconds since May 2014, 16 random bytes, in base 62.
import { randomBytes } from 'node:crypto';

const epochSeconds = 1_400_000_000;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const length = 27;

/** 27 characters, in order of time. */
export function ksuid(now: Date = new Date()): string {
  const bytes = Buffer.alloc(20);
  bytes.writeUInt32BE(Math.floor(now.getTime() / 1000) - epochSeconds);
  randomBytes(16).copy(bytes, 4);
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let at = 0; at < length; at++) {
    text = digits.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
