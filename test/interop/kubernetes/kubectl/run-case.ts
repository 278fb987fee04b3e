// Runs the commands of a case against a server.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { kubeconfigText } from '../real-api-server.ts';
import { alike } from './alike.ts';
import type { Command, KubectlCase } from './case.ts';

/** A server, and whom to be there. */
export interface Target {
  readonly url: string;
  readonly token: string;
  readonly ca?: string;
  readonly serverName?: string;
}

/** What a command ended with. */
export interface Told {
  readonly run: string;
  /** Missing where the command was ended by the case. */
  readonly code?: number;
  readonly out: readonly string[];
  readonly err: readonly string[];
}

/** The namespace that a case has to itself. */
export const namespaceOf = ({ name }: KubectlCase): string => `k-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;

/** Changes when a case does, so that a recording of other commands is not taken for one of these. */
export const printOf = ({ files, commands }: KubectlCase): string =>
  createHash('sha256')
    .update(JSON.stringify([files, commands]))
    .digest('hex')
    .slice(0, 12);

/** Longer than any command takes. */
const patienceMilliseconds = 60_000;

/** Runs a case with a kubectl. What kubectl learns of the server is kept in `cache`. */
export async function runCase(
  kubectl: string,
  target: Target,
  tested: KubectlCase,
  cache: string,
): Promise<readonly Told[]> {
  const folder = await mkdtemp(join(tmpdir(), 'kubectl-case-'));
  const namespace = namespaceOf(tested);
  const fill = (text: string): string => text.replaceAll('$NS', namespace);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    TZ: 'UTC',
    KUBECONFIG: join(folder, 'kubeconfig'),
    KUBECACHEDIR: cache,
  };
  const start = (run: string, editor?: string): ChildProcess =>
    spawn(kubectl, argumentsOf(fill(run)), {
      cwd: folder,
      env: { ...env, ...(editor === undefined ? {} : { KUBE_EDITOR: fill(editor) }) },
      timeout: patienceMilliseconds,
      killSignal: 'SIGKILL',
    });
  try {
    await writeFile(env.KUBECONFIG, kubeconfigText({ ...target, namespace }), { mode: 0o600 });
    for (const [name, content] of Object.entries(tested.files)) {
      const path = join(folder, name);
      await mkdir(join(path, '..'), { recursive: true });
      await writeFile(path, fill(textOf(content)));
    }
    const made = await finish(start('create namespace $NS'));
    if (made.code !== 0) throw new Error(`no namespace for ${tested.name}: ${made.err}`);
    const told: Told[] = [];
    for (const command of tested.commands) told.push(await perform(command, start, fill, folder));
    return told;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const textOf = (content: KubectlCase['files'][string]): string =>
  typeof content === 'string'
    ? content
    : [content]
        .flat()
        .map((one) => JSON.stringify(one))
        .join('\n');

/** How often a patient command is run, and how long it waits in between. */
const attempts = 60;
const pauseMilliseconds = 500;

async function perform(
  command: Command,
  start: (run: string, editor?: string) => ChildProcess,
  fill: (text: string) => string,
  folder: string,
): Promise<Told> {
  for (let attempt = 1; ; attempt += 1) {
    const told = await performOnce(command, start, fill, folder);
    if (!command.patient || told.code === 0 || attempt === attempts) return told;
    await sleep(pauseMilliseconds);
  }
}

async function performOnce(
  { run, input, editor, meanwhile, lines, form }: Command,
  start: (run: string, editor?: string) => ChildProcess,
  fill: (text: string) => string,
  folder: string,
): Promise<Told> {
  const child = start(run, editor);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(fill(input ?? ''));
  if (meanwhile === undefined || lines === undefined) {
    const { code, out, err } = await finish(child);
    return { run, code, out: alike(out, folder, form), err: alike(err, folder) };
  }
  const seen = linesOf(child);
  const ended = finish(child);
  await seen(1);
  for (const other of meanwhile) {
    const { code, err } = await finish(start(other));
    if (code !== 0) throw new Error(`${other}: ${err}`);
  }
  await seen(lines);
  child.kill();
  const { out, err } = await ended;
  return { run, out: alike(out, folder, form), err: alike(err, folder) };
}

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function finish(child: ChildProcess): Promise<Ended> {
  const printed = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (part: string) => (printed.out += part));
  child.stderr?.setEncoding('utf8').on('data', (part: string) => (printed.err += part));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? -1, ...printed };
}

/** Resolves when a program has printed so many lines in all, or has ended. */
function linesOf(child: ChildProcess): (count: number) => Promise<void> {
  let printed = 0;
  let ended = false;
  let look = (): void => undefined;
  child.stdout?.on('data', (part: string | Buffer) => {
    printed += part.toString().split('\n').length - 1;
    look();
  });
  child.on('close', () => {
    ended = true;
    look();
  });
  return (count) =>
    new Promise((resolve) => {
      look = () => {
        if (printed >= count || ended) resolve();
      };
      look();
    });
}

/** Splits at spaces outside of single quotes. */
const argumentsOf = (run: string): readonly string[] =>
  (run.match(/(?:[^\s']+|'[^']*')+/g) ?? []).map((argument) => argument.replaceAll("'", ''));
