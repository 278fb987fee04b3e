// Quantities and semantic versions.
import { compareQuantities, parseQuantity, type Quantity, QuantityError } from '../../schema/quantity.ts';
import type { Declaration } from '../overloads.ts';
import { opaqueNames } from '../types.ts';
import { CelError, Opaque } from '../values.ts';
import { checkedInt } from './operators.ts';

const billion = 1_000_000_000n;

function read(text: string): Quantity {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) throw new CelError(error.message);
    throw error;
  }
}

const isQuantity = (text: string): boolean => {
  try {
    return parseQuantity(text) !== undefined;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
};

const quantityOf = (quantity: Quantity): Opaque => new Opaque(opaqueNames.quantity, quantity, String(quantity.nanos));
const of = ({ value }: Opaque): Quantity => value as Quantity;
const added = (one: Quantity, nanos: bigint): Opaque => quantityOf({ ...one, nanos: one.nanos + nanos });

const isWhole = (quantity: Quantity): boolean =>
  quantity.nanos % billion === 0n && quantity.nanos / billion < 2n ** 63n && quantity.nanos / billion >= -(2n ** 63n);

interface Version {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly labels: readonly string[];
}

const versionForm =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** `v1.2` is taken for 1.2.0 where that is asked for. */
function normalized(text: string): string {
  const [core = '', ...rest] = text.replace(/^v/, '').split(/(?=[-+])/);
  const parts = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (parts.length < 3) parts.push('0');
  return parts.join('.') + rest.join('');
}

function parseVersion(text: string, normalize = false): Version | undefined {
  const [, major, minor, patch, labels = ''] = versionForm.exec(normalize ? normalized(text) : text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return { numbers: [BigInt(major), BigInt(minor), BigInt(patch)], labels: labels === '' ? [] : labels.split('.') };
}

function strictVersion(text: string, normalize = false): Opaque {
  const version = parseVersion(text, normalize);
  if (!version) throw new CelError(`Semver parse error during conversion from string: ${text}`);
  return new Opaque(opaqueNames.semver, version, `${version.numbers.join('.')}-${version.labels.join('.')}`);
}

const versionOf = ({ value }: Opaque): Version => value as Version;

function compareLabels(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return other.length - one.length;
  for (const [index, label] of one.entries()) {
    const against = other[index];
    if (against === undefined) return 1;
    if (label === against) continue;
    const [a, b] = [/^\d+$/.test(label), /^\d+$/.test(against)];
    if (a && b) return BigInt(label) < BigInt(against) ? -1 : 1;
    if (a !== b) return a ? -1 : 1;
    return label < against ? -1 : 1;
  }
  return one.length - other.length;
}

function compareVersions(one: Version, other: Version): number {
  for (const [index, number] of one.numbers.entries()) {
    const against = other.numbers[index] ?? 0n;
    if (number !== against) return number < against ? -1 : 1;
  }
  return Math.sign(compareLabels(one.labels, other.labels));
}

export const quantityFunctions: readonly Declaration[] = [
  ['quantity(string): quantity', (text: string) => quantityOf(read(text))],
  ['isQuantity(string): bool', isQuantity],
  ['.sign(quantity): int', (one: Opaque) => (of(one).nanos > 0n ? 1n : of(one).nanos < 0n ? -1n : 0n)],
  ['.isInteger(quantity): bool', (one: Opaque) => isWhole(of(one))],
  [
    '.asInteger(quantity): int',
    (one: Opaque) => {
      if (!isWhole(of(one))) throw new CelError('cannot convert value to integer');
      return of(one).nanos / billion;
    },
  ],
  ['.asApproximateFloat(quantity): double', (one: Opaque) => Number(of(one).nanos) / 1e9],
  [
    '.isGreaterThan(quantity, quantity): bool',
    (one: Opaque, other: Opaque) => compareQuantities(of(one), of(other)) > 0,
  ],
  ['.isLessThan(quantity, quantity): bool', (one: Opaque, other: Opaque) => compareQuantities(of(one), of(other)) < 0],
  [
    '.compareTo(quantity, quantity): int',
    (one: Opaque, other: Opaque) => BigInt(compareQuantities(of(one), of(other))),
  ],
  ['.add(quantity, quantity): quantity', (one: Opaque, other: Opaque) => added(of(one), of(other).nanos)],
  ['.add(quantity, int): quantity', (one: Opaque, other: bigint) => added(of(one), checkedInt(other) * billion)],
  ['.sub(quantity, quantity): quantity', (one: Opaque, other: Opaque) => added(of(one), -of(other).nanos)],
  ['.sub(quantity, int): quantity', (one: Opaque, other: bigint) => added(of(one), -checkedInt(other) * billion)],
  ['semver(string): semver', (text: string) => strictVersion(text)],
  ['semver(string, bool): semver', (text: string, normalize: boolean) => strictVersion(text, normalize)],
  ['isSemver(string): bool', (text: string) => parseVersion(text) !== undefined],
  ['isSemver(string, bool): bool', (text: string, normalize: boolean) => parseVersion(text, normalize) !== undefined],
  ['.major(semver): int', (one: Opaque) => versionOf(one).numbers[0]],
  ['.minor(semver): int', (one: Opaque) => versionOf(one).numbers[1]],
  ['.patch(semver): int', (one: Opaque) => versionOf(one).numbers[2]],
  [
    '.isGreaterThan(semver, semver): bool',
    (one: Opaque, other: Opaque) => compareVersions(versionOf(one), versionOf(other)) > 0,
  ],
  [
    '.isLessThan(semver, semver): bool',
    (one: Opaque, other: Opaque) => compareVersions(versionOf(one), versionOf(other)) < 0,
  ],
  [
    '.compareTo(semver, semver): int',
    (one: Opaque, other: Opaque) => BigInt(compareVersions(versionOf(one), versionOf(other))),
  ],
];
