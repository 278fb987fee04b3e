import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Engine, EngineContainer, Layout, Write } from '../../engine.ts';
import { openSqliteEngine, type SqliteOptions } from '../engine.ts';

const cleanUps = new WeakMap<TestContext, (() => unknown)[]>();

/** Runs when the test ends, the last one added first: what was opened is closed before its directory is removed. */
export function atEnd(t: TestContext, cleanUp: () => unknown): void {
  const known = cleanUps.get(t);
  if (known !== undefined) {
    known.push(cleanUp);
    return;
  }
  const all = [cleanUp];
  cleanUps.set(t, all);
  t.after(async () => {
    for (const one of all.reverse()) await one();
  });
}

export async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'store-sqlite-test-'));
  atEnd(t, () => rm(directory, { recursive: true, force: true }));
  return directory;
}

export async function temporaryFile(t: TestContext): Promise<string> {
  return join(await temporaryDirectory(t), 'store.db');
}

/** An engine that is closed when the test ends. */
export async function openEngine(t: TestContext, options: SqliteOptions = {}): Promise<Engine> {
  const engine = await openSqliteEngine(options);
  atEnd(t, () => engine.close());
  return engine;
}

export function layoutOf(more: Partial<Layout> = {}): Layout {
  return { name: 'things', uniqueKeys: [], indexes: [], labels: undefined, ...more };
}

/** A container of a new engine in a file of its own. */
export async function openThings(
  t: TestContext,
  layout: Partial<Layout> = {},
  options: SqliteOptions = {},
): Promise<EngineContainer> {
  const engine = await openEngine(t, options);
  return engine.open(layoutOf(layout));
}

export function creation(id: string, body: object, more: Partial<Extract<Write, { kind: 'create' }>> = {}): Write {
  return { kind: 'create', id, json: JSON.stringify(body), labels: [], ...more };
}

export function replacement(
  id: string,
  revision: number,
  body: object,
  more: Partial<Extract<Write, { kind: 'replace' }>> = {},
): Write {
  return { kind: 'replace', id, revision, json: JSON.stringify(body), labels: [], ...more };
}

/** A clock that tests set. */
export function testClock(): { readonly now: () => number; advance(milliseconds: number): void } {
  let offset = 0;
  return {
    now: () => Date.now() + offset,
    advance(milliseconds) {
      offset += milliseconds;
    },
  };
}

/** Another process: see peer.ts for what it can be asked to do. Killed at the latest when the test ends. */
export async function startPeer(t: TestContext, file: string, task: string): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('./peer.ts', import.meta.url));
  const child = spawn(process.execPath, [script, file, task], { stdio: ['pipe', 'pipe', 'inherit'] });
  atEnd(t, () => stopPeer(child));
  return child;
}

/** Kills it as `kill -9` does and waits until it is gone. */
export async function stopPeer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** The next line that the process prints. */
export async function nextLine(child: ChildProcess): Promise<string> {
  const [chunk]: unknown[] = await once(child.stdout ?? child, 'data');
  return String(chunk).trim();
}
