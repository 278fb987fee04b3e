// The two servers that kubectl is run against: with their controllers, without scheduler and nodes.
import { issueStaticToken } from '../../../../src/local/kubernetes/access/static-tokens.ts';
import { silent } from '../../../../src/local/kubernetes/http/testing/server.ts';
import { start } from '../../../../src/local/kubernetes/main.ts';
import { hasControllers, startApiServer } from '../real-api-server.ts';
import type { Target } from './run-case.ts';

export interface RunningTarget extends Target {
  stop(): Promise<void>;
}

export async function startEmbedded(): Promise<RunningTarget> {
  const running = await start({
    logger: silent,
    clusters: ['one'],
    graceSeconds: 1,
    controllers: { scheduler: false, kubelet: false },
  });
  const cluster = running.clusters.find('one');
  if (!cluster) throw new Error('the server came without its cluster');
  const token = await issueStaticToken(cluster.objects, { user: 'admin', uid: '1', groups: ['system:masters'] });
  return {
    url: cluster.address,
    token: token.reveal(),
    ca: await cluster.ca(),
    serverName: cluster.hostName,
    stop: () => running.stop(),
  };
}

/** Groups that the embedded server does not serve; without them `api-resources` and what follows from it are the same. */
const notServed = [
  'autoscaling/v1',
  'autoscaling/v2',
  'flowcontrol.apiserver.k8s.io/v1',
  'node.k8s.io/v1',
  'resource.k8s.io/v1',
];

/** Throws where kube-controller-manager is not among the programs: commands of kubectl are little without it. */
export async function startReal(programs: string): Promise<RunningTarget> {
  if (!hasControllers(programs)) throw new Error(`${programs} holds no kube-controller-manager`);
  const server = await startApiServer(programs, {
    controllers: true,
    flags: [
      `--runtime-config=${notServed.map((version) => `${version}=false`).join(',')}`,
      '--enable-priority-and-fairness=false',
      // It waits for runtime classes, which are in one of these groups.
      '--disable-admission-plugins=RuntimeClass',
    ],
  });
  return { url: server.url, token: server.token, stop: () => server.stop() };
}
