import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createLogger } from '../../../kit/log.ts';
import { kubeconfigOf } from '../kubeconfig.ts';
import { addNode } from '../kubelet/add-node.ts';
import { start } from '../main.ts';

const run = promisify(execFile);
const hasKubectl = await run('kubectl', ['version', '--client']).then(
  () => true,
  () => false,
);

test('kubectl sees rollouts, jobs and nodes through', {
  skip: hasKubectl ? false : 'kubectl is not on the PATH',
}, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'aro-kubectl-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const running = await start({
    logger: createLogger({ service: 'test', level: 'silent' }),
    clusters: ['one'],
    graceSeconds: 1,
    controllers: { kubelet: { pace: 0.02 } },
  });
  t.after(() => running.stop());
  const cluster = running.clusters.find('one') ?? assert.fail();
  const { text } = await kubeconfigOf(cluster);
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, text.reveal(), { mode: 0o600 });
  const kubectl = async (...args: string[]): Promise<string> => {
    const options = ['--kubeconfig', kubeconfig, '--cache-dir', directory];
    const { stdout } = await run('kubectl', [...options, ...args], { timeout: 30_000 });
    return stdout.trim();
  };
  for (const name of ['a', 'b']) await addNode(cluster, { name });
  await kubectl('wait', '--for=condition=Ready', 'node/a', 'node/b');

  await kubectl('create', 'deployment', 'web', '--image=registry.local/web:1', '--replicas=4');
  assert.match(await kubectl('rollout', 'status', 'deploy/web'), /deployment "web" successfully rolled out$/);
  await kubectl('set', 'image', 'deploy/web', 'web=registry.local/web:2');
  assert.match(await kubectl('rollout', 'status', 'deploy/web'), /successfully rolled out$/);
  assert.match(await kubectl('rollout', 'history', 'deploy/web'), /REVISION +CHANGE-CAUSE\n1 +<none>\n2 +<none>$/);
  assert.match(await kubectl('rollout', 'undo', 'deploy/web'), /rolled back$/);
  assert.match(await kubectl('rollout', 'status', 'deploy/web'), /successfully rolled out$/);
  const image = ['get', 'deploy/web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}'];
  assert.equal(await kubectl(...image), 'registry.local/web:1');
  await kubectl('rollout', 'restart', 'deploy/web');
  assert.match(await kubectl('rollout', 'status', 'deploy/web'), /successfully rolled out$/);

  await kubectl('create', 'job', 'sum', '--image=registry.local/sum:1');
  await kubectl('wait', '--for=condition=Complete', 'job/sum', '--timeout=20s');

  await kubectl('expose', 'deploy/web', '--port=80');
  assert.match(await kubectl('describe', 'service', 'web'), /Endpoints: +10\.\d+\.\d+\.\d+:80/);

  await kubectl('drain', 'a', '--force', '--ignore-daemonsets');
  assert.match(await kubectl('get', 'node', 'a'), /Ready,SchedulingDisabled/);
  await kubectl('wait', '--for=condition=Available', 'deploy/web', '--timeout=20s');
  const places = await kubectl('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].spec.nodeName}');
  assert.deepEqual([...new Set(places.split(' '))], ['b']);

  await kubectl('create', 'namespace', 'shop');
  await kubectl('-n', 'shop', 'create', 'deployment', 'web', '--image=registry.local/web:1');
  assert.match(await kubectl('delete', 'namespace', 'shop'), /namespace "shop" deleted/);
  assert.match(await kubectl('delete', 'deploy', 'web', '--cascade=foreground'), /"web" deleted/);
  assert.equal(await kubectl('get', 'pods', '-l', 'app=web', '-o', 'name'), '');
});
