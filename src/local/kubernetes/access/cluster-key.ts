// The key that signs a cluster's service-account tokens, derived from one key of the host: nothing to make, keep or load for a
// cluster that issues no tokens.
import { createECDH, createPrivateKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { Secret } from '../../../kit/secret.ts';

/** The order of the curve P-256. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** 64 bits more than the order, so that the remainder is as good as evenly spread (FIPS 186-5, A.2.1). */
const derivedBytes = 40;

/** A P-256 private key that only this host key and this cluster's name give. */
export function clusterSigningKey(hostKey: Secret<Buffer>, cluster: string): KeyObject {
  const secret = hostKey.reveal();
  if (secret.length < 32) throw new TypeError(`a host key has at least 32 bytes, this one has ${secret.length}`);
  const derived = hkdfSync('sha256', secret, '', `service-account tokens of ${cluster}`, derivedBytes);
  const scalar = (BigInt(`0x${Buffer.from(derived).toString('hex')}`) % (order - 1n)) + 1n;
  const d = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex');
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(d);
  const point = curve.getPublicKey();
  return createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: d.toString('base64url'),
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    },
  });
}
