// Records what a real kube-apiserver answers to the cases of crd-cases/, for the test that holds our own custom resources to it:
//
//   KUBEBUILDER_ASSETS=<folder with etcd and kube-apiserver> node test/interop/kubernetes/record-crd.ts
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cases } from './crd-cases/cases.ts';
import { runCases } from './crd-cases/run-cases.ts';
import { requiredPrograms, startApiServer } from './real-api-server.ts';

const server = await startApiServer(requiredPrograms());
try {
  const recorded = await runCases(server, cases);
  const target = join(import.meta.dirname, 'recorded');
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'crd.json'), `[\n${recorded.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`);
  process.stdout.write(`${recorded.length} cases recorded\n`);
} finally {
  await server.stop();
}
