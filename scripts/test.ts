// `npm test` and `npm run test:real`: one PostgreSQL server for all test files (unless POSTGRES_URL names one), then Node's
// own test runner. Arguments that are not flags pick files: `npm test -- src/store`.
import { spawn } from 'node:child_process';
import { glob } from 'node:fs/promises';

const args = process.argv.slice(2);
const real = args.includes('--real');
const wanted = args.filter((arg) => !arg.startsWith('--'));

const files: string[] = [];
for await (const file of glob('{src,test}/**/*.test.ts')) {
  if (file.endsWith('.real.test.ts') !== real) continue;
  if (wanted.length > 0 && !wanted.some((part) => file.includes(part))) continue;
  files.push(file);
}
files.sort();
if (files.length === 0) {
  console.error(`no test file matches ${wanted.join(' ') || 'the pattern'}`);
  process.exit(1);
}

const child = spawn(process.execPath, ['--test', '--test-concurrency=2', ...files], { stdio: 'inherit' });
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
