// Records what kubectl prints when it talks to a real kube-apiserver:
//
//   KUBEBUILDER_ASSETS=<folder with etcd, kube-apiserver and kube-controller-manager> node test/interop/kubernetes/kubectl/record.ts
//
// Names of groups of cases record those alone.
import { findPeer } from '../../../peers.ts';
import { requiredPrograms } from '../real-api-server.ts';
import { groups, keep, type Recording, runCases } from './suite.ts';
import { startReal } from './targets.ts';

const kubectl = findPeer('kubectl');
if ('missing' in kubectl) throw new Error(kubectl.missing);
const wanted = process.argv.slice(2);
const target = await startReal(requiredPrograms());
try {
  for (const [group, cases] of Object.entries(groups)) {
    if (wanted.length > 0 && !wanted.includes(group)) continue;
    const made = new Map<string, Recording>();
    await runCases(kubectl.path, target, cases, async ({ name }, outcome) => {
      made.set(name, await outcome);
    });
    const recordings = cases.flatMap(({ name }) => made.get(name) ?? []);
    await keep(group, recordings);
    const told = recordings.flatMap((recording) => recording.told);
    const refused = told.filter(({ code }) => code !== undefined && code !== 0);
    process.stdout.write(`${group}: ${told.length} commands recorded, ${refused.length} of them refused\n`);
  }
} finally {
  await target.stop();
}
