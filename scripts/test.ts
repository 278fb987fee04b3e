// `npm test` and `npm run test:real`: one PostgreSQL server for all test files (unless POSTGRES_URL names one), then Node's
// own test runner. Arguments that are not flags pick files: `npm test -- src/store`.
import { spawn } from 'node:child_process';
import { glob } from 'node:fs/promises';
import { postgresForTests } from '../src/store/testing/postgres-server.ts';

const args = process.argv.slice(2);
const real = args.includes('--real');
const wanted = args.filter((arg) => !arg.startsWith('--'));

const files: string[] = [];
for await (const entry of glob('{src,test}/**/*.test.ts')) {
  const file = entry.replaceAll('\\', '/');
  if (file.endsWith('.real.test.ts') !== real) continue;
  if (wanted.length > 0 && !wanted.some((part) => file.includes(part))) continue;
  files.push(file);
}
files.sort();
if (files.length === 0) {
  console.error(`no test file matches ${wanted.join(' ') || 'the pattern'}`);
  process.exit(1);
}

const postgres = await postgresForTests();
const child = spawn(process.execPath, ['--test', '--test-concurrency=2', ...files], {
  stdio: 'inherit',
  env: { ...process.env, POSTGRES_URL: postgres.url },
});
// The runner gets an interrupt from the terminal itself; a signal to this process alone is passed on.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
  void postgres.stop();
});
