// What the tests of this folder share.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { KubeObject, ObjectMeta } from '../../object.ts';
import type { Change, Entry, ObjectHost } from '../objects.ts';
import { type ObjectOptions, openObjects } from '../open.ts';

export const pods = '/pods';

export async function temporaryFile(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'kubernetes-objects-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return join(directory, 'data', 'objects.db');
}

/** A host that is closed when the test ends. */
export async function openHost(t: TestContext, options: ObjectOptions = {}): Promise<ObjectHost> {
  const host = await openObjects(options);
  t.after(() => host.close());
  return host;
}

export function pod(name: string, more: ObjectMeta = {}, spec: object = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: `uid of ${name}`, ...more },
    spec,
  };
}

export function parsed(entry: Entry | undefined): KubeObject {
  if (entry === undefined) throw new Error('there is no entry');
  return JSON.parse(entry.bytes.toString()) as KubeObject;
}

/** `ADDED a 1`: what happened, to which object, at which revision. */
export function told({ kind, entry }: Change): string {
  return `${kind} ${entry.name} ${entry.revision}`;
}

export const names = (entries: Iterable<Entry>): string[] => [...entries].map((entry) => entry.name);

/** Fails when there is none: tests take what must be there. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('nothing is there');
  return value;
}
