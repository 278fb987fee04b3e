// ECDSA over a digest. Clients of vaults hash on their side and send the digest, which node:crypto would hash once more; so the last
// step, arithmetic on the curve, is here. Not hardened against timing: it is for a cloud on one's own machine.
import { createECDH, type KeyObject, randomBytes } from 'node:crypto';

interface Curve {
  /** As OpenSSL names it. */
  readonly name: string;
  readonly bytes: number;
  readonly p: bigint;
  readonly a: bigint;
  readonly n: bigint;
  readonly g: Point;
}

/** Jacobian; z is 0 at infinity. */
interface Point {
  readonly x: bigint;
  readonly y: bigint;
  readonly z: bigint;
}

function curve(name: string, bytes: number, p: bigint, a: bigint, n: bigint, x: bigint, y: bigint): Curve {
  return { name, bytes, p, a: (a + p) % p, n, g: { x, y, z: 1n } };
}

/** By the name that JSON Web Keys have for them. */
const curves: { readonly [crv: string]: Curve } = {
  'P-256': curve(
    'prime256v1',
    32,
    0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn,
    -3n,
    0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
    0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
    0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
  ),
  'P-384': curve(
    'secp384r1',
    48,
    0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffffn,
    -3n,
    0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
    0xaa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7n,
    0x3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5fn,
  ),
  'P-521': curve(
    'secp521r1',
    66,
    (1n << 521n) - 1n,
    -3n,
    0x01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
    0x00c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66n,
    0x011839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650n,
  ),
  'P-256K': curve(
    'secp256k1',
    32,
    0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2fn,
    0n,
    0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n,
    0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
    0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
  ),
};

/** The signature as its two numbers one after the other, as JSON Web Signatures have it. */
export function signDigest(key: KeyObject, crv: string, digest: Buffer): Buffer {
  const c = demand(crv);
  const { d: scalar } = key.export({ format: 'jwk' });
  const d = number(Buffer.from(scalar ?? '', 'base64url'));
  const z = truncated(digest, c);
  for (;;) {
    const k = number(randomBytes(c.bytes + 8)) % c.n;
    if (k === 0n) continue;
    const ecdh = createECDH(c.name);
    ecdh.setPrivateKey(bytesOf(k, c.bytes));
    const r = number(ecdh.getPublicKey().subarray(1, 1 + c.bytes)) % c.n;
    const s = (inverse(k, c.n) * (z + r * d)) % c.n;
    if (r !== 0n && s !== 0n) return Buffer.concat([bytesOf(r, c.bytes), bytesOf(s, c.bytes)]);
  }
}

export function verifyDigest(
  publicKey: { readonly x: string; readonly y: string },
  crv: string,
  digest: Buffer,
  signature: Buffer,
): boolean {
  const c = demand(crv);
  if (signature.length !== 2 * c.bytes) return false;
  const r = number(signature.subarray(0, c.bytes));
  const s = number(signature.subarray(c.bytes));
  if (r <= 0n || s <= 0n || r >= c.n || s >= c.n) return false;
  const w = inverse(s, c.n);
  const q = {
    x: number(Buffer.from(publicKey.x, 'base64url')),
    y: number(Buffer.from(publicKey.y, 'base64url')),
    z: 1n,
  };
  const sum = add(c, times(c, (truncated(digest, c) * w) % c.n, c.g), times(c, (r * w) % c.n, q));
  if (sum.z === 0n) return false;
  const zInverse = inverse(sum.z, c.p);
  return mod(sum.x * zInverse * zInverse, c.p) % c.n === r;
}

function demand(crv: string): Curve {
  const found = curves[crv];
  if (found === undefined) throw new RangeError(`no curve ${crv}`);
  return found;
}

/** The leftmost bits of a digest, as many as the order has. */
function truncated(digest: Buffer, { n }: Curve): bigint {
  const extra = digest.length * 8 - n.toString(2).length;
  const value = number(digest);
  return extra > 0 ? value >> BigInt(extra) : value;
}

function times(c: Curve, factor: bigint, point: Point): Point {
  let sum: Point = { x: 0n, y: 1n, z: 0n };
  for (const bit of factor.toString(2)) {
    sum = double(c, sum);
    if (bit === '1') sum = add(c, sum, point);
  }
  return sum;
}

function double({ p, a }: Curve, { x, y, z }: Point): Point {
  if (z === 0n || y === 0n) return { x: 0n, y: 1n, z: 0n };
  const yy = mod(y * y, p);
  const s = mod(4n * x * yy, p);
  const zz = mod(z * z, p);
  const m = mod(3n * x * x + a * zz * zz, p);
  const x3 = mod(m * m - 2n * s, p);
  return { x: x3, y: mod(m * (s - x3) - 8n * yy * yy, p), z: mod(2n * y * z, p) };
}

function add(c: Curve, one: Point, other: Point): Point {
  if (one.z === 0n) return other;
  if (other.z === 0n) return one;
  const { p } = c;
  const [z1z1, z2z2] = [mod(one.z * one.z, p), mod(other.z * other.z, p)];
  const [u1, u2] = [mod(one.x * z2z2, p), mod(other.x * z1z1, p)];
  const [s1, s2] = [mod(one.y * other.z * z2z2, p), mod(other.y * one.z * z1z1, p)];
  if (u1 === u2) return s1 === s2 ? double(c, one) : { x: 0n, y: 1n, z: 0n };
  const [h, r] = [mod(u2 - u1, p), mod(s2 - s1, p)];
  const hh = mod(h * h, p);
  const hhh = mod(h * hh, p);
  const v = mod(u1 * hh, p);
  const x = mod(r * r - hhh - 2n * v, p);
  return { x, y: mod(r * (v - x) - s1 * hhh, p), z: mod(h * one.z * other.z, p) };
}

function mod(value: bigint, by: bigint): bigint {
  const rest = value % by;
  return rest < 0n ? rest + by : rest;
}

/** By Euclid's algorithm. */
function inverse(value: bigint, by: bigint): bigint {
  let [r, next] = [by, mod(value, by)];
  let [t, nextT] = [0n, 1n];
  while (next !== 0n) {
    const quotient = r / next;
    [r, next] = [next, r - quotient * next];
    [t, nextT] = [nextT, t - quotient * nextT];
  }
  return mod(t, by);
}

function number(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`);
}

function bytesOf(value: bigint, length: number): Buffer {
  return Buffer.from(value.toString(16).padStart(length * 2, '0'), 'hex');
}
