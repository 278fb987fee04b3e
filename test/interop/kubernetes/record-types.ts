// Records what a real kube-apiserver makes of the objects of type-cases/ and table-cases.ts, and how it describes itself, for the
// tests that hold our own types to it:
//
//   KUBEBUILDER_ASSETS=<folder with etcd and kube-apiserver> node test/interop/kubernetes/record-types.ts
import { writeFileSync } from 'node:fs';
import { requiredPrograms } from './real-api-server.ts';
import { runCases, startTypesServer } from './type-cases/run-cases.ts';

const server = await startTypesServer(requiredPrograms());
try {
  for (const [name, value] of Object.entries(await runCases(server))) {
    const lines = Object.entries(value).map(([key, entry]) => `${JSON.stringify(key)}:${JSON.stringify(entry)}`);
    writeFileSync(new URL(`./data/types-${name}.json`, import.meta.url), `{\n${lines.join(',\n')}\n}\n`);
    process.stdout.write(`${name}: ${lines.length} recorded\n`);
  }
} finally {
  await server.stop();
}
