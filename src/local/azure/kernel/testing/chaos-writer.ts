// A process that writes and deletes resources and kills itself right after a commit, the way a machine does: without a chance to do
// anything more. It is given the database file, the ring's key and after how many commits. It prints one line for every write of the
// counter that was acknowledged.
import { writeSync } from 'node:fs';
import { chaosProviders } from './chaos-providers.ts';
import { counter, makeCounter, setCounter, step } from './chaos-steps.ts';
import { openCloud, testRing } from './kernel.ts';

const [file = '', key = '', last = ''] = process.argv.slice(2);
let commits = Number(last);
const { resources } = await openCloud({
  file,
  ring: testRing(Buffer.from(key, 'hex')),
  providers: chaosProviders,
  committed() {
    if (--commits <= 0) process.kill(process.pid, 'SIGKILL');
  },
});
await makeCounter(resources);

async function work(): Promise<never> {
  for (;;) await step(resources);
}

async function count(): Promise<never> {
  const before = await resources.read(counter.text);
  for (let n = Number(before?.body.resource.properties?.n ?? 0) + 1; ; n++) {
    await setCounter(resources, n);
    writeSync(1, `${n}\n`);
  }
}

await Promise.all([count(), ...Array.from({ length: 4 }, work)]);
