// Records what a real kube-apiserver answers to the conformance suite:
//
//   KUBEBUILDER_ASSETS=<folder with etcd and kube-apiserver> node test/interop/kubernetes/record.ts
import { findPeer } from '../../peers.ts';
import { startRealServer } from './cases/real-server.ts';
import { groups, keep, type Recording, record } from './suite.ts';

const found = findPeer('kube');
if ('missing' in found) throw new Error(found.missing);
const server = await startRealServer(found.path);
try {
  const recordings: Record<string, readonly Recording[]> = {};
  for (const [group, cases] of Object.entries(groups)) recordings[group] = await record(server.wire, cases);
  await keep(recordings);
  const all = Object.values(recordings).flat();
  const refused = all.filter(({ told }) => told.some(({ status }) => status >= 400));
  process.stdout.write(`${all.length} cases recorded, ${refused.length} of them with refusals\n`);
} finally {
  await server.stop();
}
