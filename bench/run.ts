// `npm run bench [-- name]`: runs bench/<name>*.ts, or all of them, one after the other, each in a process of its own.
// Figures go to standard output, one JSON line each; progress to standard error.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));
const notBenchmarks = new Set(['run.ts', 'harness.ts']);
const benchmarks = readdirSync(folder).filter((file) => file.endsWith('.ts') && !notBenchmarks.has(file));
const wanted = process.argv.slice(2);
const chosen = benchmarks.filter((file) => wanted.length === 0 || wanted.some((name) => file.startsWith(name))).sort();

if (chosen.length === 0) {
  const names = benchmarks.map((file) => file.slice(0, -'.ts'.length)).join(', ');
  console.error(`no benchmark is called ${wanted.join(' ')}; there are: ${names}`);
  process.exitCode = 2;
}
for (const file of chosen) {
  console.error(`bench/${file}`);
  const { status } = spawnSync(process.execPath, [join(folder, file)], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) process.exitCode = 1;
}
