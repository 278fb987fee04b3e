import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Libraries of many modules, each worth a good part of the time in which a cloud is to be there. They are loaded when first used. */
const late = ['typebox', 'jose', 'yaml', '@peculiar/x509', 'undici', 'node:http'];

const listImports = `
  import { registerHooks } from 'node:module';
  const asked = new Set();
  registerHooks({
    resolve(name, context, next) {
      if (context.conditions.includes('import')) asked.add(name);
      return next(name, context);
    },
  });
  await import(process.argv[1]);
  console.log(JSON.stringify([...asked]));
`;

test('what is imported at the start has none of the large libraries', async () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const flags = ['--input-type=module', '--eval', listImports, main];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { maxBuffer: 1 << 24 });
  const asked = JSON.parse(stdout) as readonly string[];
  assert.ok(asked.includes('fastify'), 'imports were not seen');
  const early = asked.filter((name) => late.some((one) => name === one || name.startsWith(`${one}/`)));
  assert.deepEqual(early, []);
});
