// Records what a real kube-apiserver answers to the conformance suite:
//
//   KUBEBUILDER_ASSETS=<folder with etcd and kube-apiserver> node test/interop/kubernetes/record.ts [group ...]
import { findPeer } from '../../peers.ts';
import { startRealServer } from './cases/real-server.ts';
import { groups, keep, type Recording, record } from './suite.ts';

const wanted = process.argv.slice(2);
const unknown = wanted.filter((group) => !(group in groups));
if (unknown.length > 0)
  throw new Error(`no such group: ${unknown.join(', ')}; there are ${Object.keys(groups).join(', ')}`);
const found = findPeer('kube');
if ('missing' in found) throw new Error(found.missing);
const server = await startRealServer(found.path);
try {
  const recordings: Record<string, readonly Recording[]> = {};
  for (const [group, cases] of Object.entries(groups)) {
    if (wanted.length === 0 || wanted.includes(group)) recordings[group] = await record(server.wire, cases);
  }
  await keep(recordings);
  const all = Object.values(recordings).flat();
  const refused = all.filter(({ told }) => told.some(({ status }) => status >= 400));
  process.stdout.write(`${all.length} cases recorded, ${refused.length} of them with refusals\n`);
} finally {
  await server.stop();
}
