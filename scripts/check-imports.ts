// Holds the layers of ARCHITECTURE.md: which room may import which. Prints every import that breaks a rule, exits 1 if any.
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Each layer may import the layers above it in this list, and its own room; rooms of one layer do not import each other. */
const layers: readonly (readonly string[])[] = [
  ['kit', 'pki'],
  ['store', 'azure', 'kube'],
  ['steps', 'arm'],
  ['api', 'documents', 'manifestwork', 'hive', 'cluster', 'maestro/protocol', 'clusters-service/client'],
  [
    'mise',
    'frontend',
    'backend',
    'operator',
    'monitor',
    'gateway',
    'portal',
    'mimo',
    'clusters-service',
    'maestro',
    'hypershift',
    'mce',
  ],
  ['cli'],
];

/** Rooms of one layer that build on each other in one direction. */
const within: ReadonlyMap<string, readonly string[]> = new Map([
  ['kit', ['pki']],
  ['documents', ['api']],
  ['hive', ['api', 'documents']],
  ['cluster', ['api', 'documents', 'hive']],
  ['maestro', ['maestro/protocol']],
  ['clusters-service', ['clusters-service/client']],
]);

/** Imports of every form, and files named for a worker or a process. */
const importForm =
  /(?:^|[\s;}])(?:import|export)\s*(?:type\s*)?(?:[\w*{}\s,$]+?\s*from\s*)?['"]([^'"]+)['"]|\b(?:import|new URL)\(\s*['"]([^'"]+\.ts)['"]/g;

const broken: string[] = [];
let seen = 0;
for await (const entry of glob('{bin,src,test,bench,scripts}/**/*.ts', { cwd: root })) {
  const file = entry.replaceAll('\\', '/');
  const text = readFileSync(join(root, file), 'utf8');
  for (const match of text.matchAll(importForm)) {
    const target = match[1] ?? match[2];
    if (!target?.startsWith('.')) continue;
    seen++;
    const to = relative(root, normalize(join(root, dirname(file), target))).replaceAll('\\', '/');
    const why = refusal(file, to);
    if (why) broken.push(`${file}: imports ${to}: ${why}`);
  }
}

for (const line of broken.sort()) console.error(line);
console.log(`${seen} imports checked, ${broken.length} break a rule`);
process.exitCode = broken.length === 0 ? 0 : 1;

function refusal(from: string, to: string): string | undefined {
  if (!to.endsWith('.ts') && !to.endsWith('.json')) return 'name the file with its .ts ending';
  const isTest =
    from.endsWith('.test.ts') || /^(test|bench)\//.test(from) || /\/testing\//.test(from) || from === 'scripts/test.ts';
  if (/^src\/.*\.test\.ts$/.test(to)) return 'tests are not imported';
  if (isTest) return undefined;
  if (/^(test|bench)\//.test(to) || /\/testing\//.test(to)) return 'only tests and benchmarks import test code';
  if (!to.startsWith('src/')) return undefined;
  // Scripts that write the data of src/local may use what reads it.
  if (from.startsWith('scripts/')) return undefined;
  if (!from.startsWith('src/'))
    return roomOf(to) === 'local' ? 'only src/cli, tests and benchmarks import src/local' : undefined;
  const [fromRoom, toRoom] = [roomOf(from), roomOf(to)];
  if (fromRoom === toRoom) return undefined;
  if (toRoom === 'local') return fromRoom === 'cli' ? undefined : 'only src/cli, tests and benchmarks import src/local';
  if (fromRoom === 'local') return isService(toRoom) || toRoom === 'cli' ? 'src/local imports no service' : undefined;
  const [fromLayer, toLayer] = [layerOf(fromRoom), layerOf(toRoom)];
  if (fromLayer === -1) return `src/${fromRoom} is not in the table of layers (scripts/check-imports.ts)`;
  if (toLayer === -1) return `src/${toRoom} is not in the table of layers (scripts/check-imports.ts)`;
  if (toLayer < fromLayer || within.get(fromRoom)?.includes(toRoom)) return undefined;
  return toLayer === fromLayer
    ? `${fromRoom} and ${toRoom} are side by side`
    : `${toRoom} is built on ${fromRoom}, not the other way`;
}

function roomOf(file: string): string {
  const [, room = '', part = ''] = file.split('/');
  const two = `${room}/${part}`;
  return layers.flat().includes(two) ? two : room;
}

function layerOf(room: string): number {
  return layers.findIndex((rooms) => rooms.includes(room));
}

function isService(room: string): boolean {
  return layerOf(room) === layers.length - 2;
}
