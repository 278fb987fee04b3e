// How long `aro --version` takes with a warm compile cache, against Node that does nothing.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, report } from './harness.ts';

const rounds = 31;
const bin = fileURLToPath(new URL('../bin/aro.ts', import.meta.url));
const cache = mkdtempSync(join(tmpdir(), 'aro-bench-cli-'));

function milliseconds(...args: string[]): number {
  const start = performance.now();
  const { status } = spawnSync(process.execPath, args, {
    stdio: 'ignore',
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  });
  const took = performance.now() - start;
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`);
  return took;
}

function compare(name: string, ...args: string[]): void {
  // The first run fills the cache.
  milliseconds(bin, ...args);
  milliseconds('-e', '0');
  const own: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round++) {
    own.push(milliseconds(bin, ...args));
    bare.push(milliseconds('-e', '0'));
  }
  const [value, peer] = [median(own), median(bare)];
  report({ bench: 'cli', case: name, value, unit: 'ms', peer, ratio: value / peer });
}

try {
  compare('aro --version', '--version');
  compare('aro pki --help', 'pki', '--help');
} finally {
  rmSync(cache, { recursive: true });
}
