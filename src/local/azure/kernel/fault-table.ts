// The faults that were asked for, and which of them apply to a call.
import { randomUUID } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import type { Call, Fault, FaultEffect, FaultError, Faults } from './faults.ts';

/** Conditions of the cloud rather than of a call. */
const standingKinds: ReadonlySet<FaultEffect['kind']> = new Set(['quota', 'skuRestricted', 'slowRoleAssignments']);

interface Entry {
  readonly fault: Fault & { readonly id: string };
  readonly matches: (call: Call) => boolean;
  seen: number;
  applied: number;
}

const none: readonly FaultEffect[] = [];

/** Kept in memory only: a cloud that was started again has the faults of its configuration. */
export function createFaults(initial: readonly Fault[] = []): Faults {
  const entries = new Map<string, Entry>();

  const faults: Faults = {
    on(call) {
      if (entries.size === 0) return none;
      const effects: FaultEffect[] = [];
      for (const entry of entries.values()) {
        const { fault } = entry;
        if (standingKinds.has(fault.effect.kind) || !entry.matches(call)) continue;
        entry.seen++;
        if (entry.seen < (fault.after ?? 0) || entry.applied >= (fault.times ?? Number.POSITIVE_INFINITY)) continue;
        entry.applied++;
        effects.push(fault.effect);
      }
      return effects;
    },
    standing<K extends FaultEffect['kind']>(kind: K) {
      const found: Extract<FaultEffect, { kind: K }>[] = [];
      for (const { fault } of entries.values()) if (isOfKind(fault.effect, kind)) found.push(fault.effect);
      return found;
    },
    add(fault) {
      const id = fault.id ?? randomUUID();
      entries.set(id, { fault: { ...fault, id }, matches: matcherOf(fault.match), seen: 0, applied: 0 });
      return id;
    },
    remove: (id) => entries.delete(id),
    list: () => [...entries.values()].map(({ fault, seen, applied }) => ({ ...fault, seen, applied })),
    clear: () => entries.clear(),
  };
  for (const fault of initial) faults.add(fault);
  return faults;
}

/** The error that a fault of kind `error` is answered with. */
export const faultError: FaultError = ({ status, code, message, retryAfterSeconds }) =>
  new ArmError(
    status,
    code,
    message ?? `This failure was asked for (${code}).`,
    retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
  );

function isOfKind<K extends FaultEffect['kind']>(
  effect: FaultEffect,
  kind: K,
): effect is Extract<FaultEffect, { kind: K }> {
  return effect.kind === kind;
}

function matcherOf(match: Fault['match']): (call: Call) => boolean {
  const methods = match.method?.split('|');
  const path = match.path === undefined ? undefined : segmentsOf(match.path, '/');
  const host = match.host === undefined ? undefined : segmentsOf(match.host, '.');
  return (call) =>
    (methods === undefined || methods.includes(call.method.toUpperCase())) &&
    (path === undefined || fits(path, segmentsOf(call.path, '/'))) &&
    (host === undefined || fits(host, segmentsOf(call.host, '.')));
}

function segmentsOf(text: string, separator: string): readonly string[] {
  return text
    .toLowerCase()
    .split(separator)
    .filter((segment) => segment !== '');
}

/** `**` is any number of segments. On a mismatch only the last `**` takes one more, so the work is bounded by the product of both. */
function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  let at = 0;
  let from = 0;
  let retryPattern = -1;
  let retryFrom = 0;
  while (from < segments.length) {
    const wanted = pattern[at];
    if (wanted === '**') {
      retryPattern = ++at;
      retryFrom = from;
    } else if (wanted !== undefined && segmentFits(wanted, segments[from] ?? '')) {
      at++;
      from++;
    } else if (retryPattern !== -1) {
      at = retryPattern;
      from = ++retryFrom;
    } else return false;
  }
  while (pattern[at] === '**') at++;
  return at === pattern.length;
}

/** `*` is any number of characters; bounded in the same way. */
function segmentFits(pattern: string, segment: string): boolean {
  if (pattern === '*' || pattern === segment) return true;
  if (!pattern.includes('*')) return false;
  let at = 0;
  let from = 0;
  let retryPattern = -1;
  let retryFrom = 0;
  while (from < segment.length) {
    if (pattern[at] === '*') {
      retryPattern = ++at;
      retryFrom = from;
    } else if (pattern[at] === segment[from]) {
      at++;
      from++;
    } else if (retryPattern !== -1) {
      at = retryPattern;
      from = ++retryFrom;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
