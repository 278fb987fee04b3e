// Records what a real kube-apiserver answers to the cases of apply-cases/, for the tests that hold our own field tracking,
// server-side apply and patches to it:
//
//   KUBEBUILDER_ASSETS=<folder with etcd and kube-apiserver> node test/interop/kubernetes/record-apply.ts
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cases } from './apply-cases/cases.ts';
import { runCases, startBareServer } from './apply-cases/run-cases.ts';
import { requiredPrograms } from './real-api-server.ts';

const server = await startBareServer(requiredPrograms());
try {
  const recorded = await runCases(server, cases);
  const target = join(import.meta.dirname, 'recorded');
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'apply.json'), `[\n${recorded.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`);
  process.stdout.write(`${recorded.length} cases recorded\n`);
} finally {
  await server.stop();
}
