import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

test('importing every file of src/azure loads no SDK', async () => {
  const files: string[] = [];
  for await (const file of glob('**/*.ts', { cwd: import.meta.dirname })) {
    if (!file.endsWith('.test.ts') && !file.startsWith('testing')) files.push(join(import.meta.dirname, file));
  }
  assert.ok(files.length >= 9);
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    for (const file of ${JSON.stringify(files)}) await import(file);
    process.stdout.write(JSON.stringify(loaded.filter((url) => /node_modules\\/@azure/.test(url))));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  assert.deepEqual(JSON.parse(stdout), []);
});
