// Records what a real kube-scheduler does with the pods of scheduling-cases.ts:
//
//   KUBEBUILDER_ASSETS=<folder with etcd, kube-apiserver and kube-scheduler> node test/interop/kubernetes/record-scheduling.ts
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPeer } from '../../peers.ts';
import type { JsonMap } from './cases/case.ts';
import { type RealApiServer, startApiServer } from './real-api-server.ts';
import {
  bodyOf,
  capacityOf,
  claimBodyOf,
  labelsOf,
  recordedFile,
  type Scheduled,
  type SchedulingCase,
  schedulingCases,
} from './scheduling-cases.ts';

const pods = '/api/v1/namespaces/default/pods';
const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
const nodes = '/api/v1/nodes';
/** How long others may take to make room. */
const patienceMilliseconds = 12_000;

interface SeenPod {
  readonly spec: { readonly nodeName?: string };
  readonly status?: {
    readonly conditions?: readonly { type: string; status: string; reason?: string; message?: string }[];
  };
}

async function made(server: RealApiServer, path: string, body: JsonMap): Promise<void> {
  const { status, body: answer } = await server.call('POST', path, { body });
  if (status !== 201) throw new Error(`${path}: ${JSON.stringify(answer)}`);
}

async function outcome(server: RealApiServer, one: SchedulingCase): Promise<Scheduled> {
  for (const node of one.nodes) {
    await made(server, nodes, { metadata: { name: node.name, labels: labelsOf(node) } });
    // New nodes are tainted until they are ready.
    const spec = { taints: (node.taints ?? []) as never, ...(node.unschedulable ? { unschedulable: true } : {}) };
    await server.call('PATCH', `${nodes}/${node.name}`, {
      body: { spec },
      contentType: 'application/merge-patch+json',
    });
    const status = {
      capacity: capacityOf(node),
      allocatable: capacityOf(node),
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    };
    await server.call('PATCH', `${nodes}/${node.name}/status`, {
      body: { status },
      contentType: 'application/merge-patch+json',
    });
  }
  for (const name of one.claims ?? []) await made(server, claims, claimBodyOf(name));
  for (const { node, ...pod } of one.placed ?? []) await made(server, pods, bodyOf(pod, node));
  // The scheduler learns of nodes and pods by watching them.
  await sleep(300);
  await made(server, pods, bodyOf(one.pod));
  const asked = async (): Promise<Scheduled | undefined> => {
    const pod = (await server.call('GET', `${pods}/${one.pod.name}`)).body as SeenPod;
    const left = ((await server.call('GET', pods)).body as { items: readonly { metadata: { name: string } }[] }).items;
    const preempted = (one.placed ?? [])
      .map(({ name }) => name)
      .filter((name) => !left.some(({ metadata }) => metadata.name === name));
    const more = preempted.length > 0 ? { preempted } : {};
    if (pod.spec.nodeName) return { name: one.name, node: pod.spec.nodeName, ...more };
    const condition = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    if (!condition) return undefined;
    const { reason = '', message = '' } = condition;
    return { name: one.name, reason, message, ...more };
  };
  const deadline = Date.now() + patienceMilliseconds;
  let seen = await asked();
  while (!seen?.node && (Date.now() < deadline || !seen)) {
    await sleep(200);
    seen = await asked();
    if (seen && !seen.node && !one.pod.spec?.priorityClassName) break;
  }
  await server.call('DELETE', `${pods}?gracePeriodSeconds=0`);
  await server.call('DELETE', nodes);
  await sleep(300);
  return seen;
}

const found = findPeer('kube');
if ('missing' in found) throw new Error(found.missing);
const server = await startApiServer(found.path);
const folder = await mkdtemp(join(tmpdir(), 'kubernetes-scheduling-'));
const kubeconfig = join(folder, 'kubeconfig');
await writeFile(
  kubeconfig,
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'real',
        cluster: { server: server.url, 'certificate-authority-data': Buffer.from(server.ca).toString('base64') },
      },
    ],
    users: [{ name: 'admin', user: { token: server.token } }],
    contexts: [{ name: 'real', context: { cluster: 'real', user: 'admin' } }],
    'current-context': 'real',
  }),
  { mode: 0o600 },
);
const scheduler = spawn(
  join(found.path, 'kube-scheduler'),
  [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0'],
  { stdio: 'ignore' },
);
try {
  await made(server, '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  const outcomes: Scheduled[] = [];
  for (const one of schedulingCases) outcomes.push(await outcome(server, one));
  await writeFile(recordedFile, `[\n${outcomes.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`);
  process.stdout.write(`${outcomes.length} outcomes recorded\n`);
} finally {
  if (scheduler.exitCode === null) {
    scheduler.kill('SIGKILL');
    await once(scheduler, 'exit');
  }
  await rm(folder, { recursive: true });
  await server.stop();
}
