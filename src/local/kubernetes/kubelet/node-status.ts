// What a simulated node reports: its lease, its conditions, what it has.
import { createHash } from 'node:crypto';
import { setConditions } from '../controllers/conditions.ts';
import type { Later } from '../controllers/controller.ts';
import { copyOf, type Hands } from '../controllers/hands.ts';
import { leases } from '../controllers/kinds.ts';
import { conditionOf } from '../controllers/pods.ts';
import type { Condition, Node } from '../controllers/shapes.ts';

const leaseNamespace = 'kube-node-lease';
/** A lease is good for so many renewals, as with real kubelets. */
const renewalsPerLease = 4;

const microTime = (epochMs: number): string => new Date(epochMs).toISOString().replace('Z', '000Z');

/** Renews the node's lease when it is time, and says when it will be again. */
export async function heartbeat(hands: Hands, node: Node, renewMs: number): Promise<Later> {
  const { name = '', uid = '' } = node.metadata;
  const found = hands.get(leases, leaseNamespace, name);
  const now = hands.now();
  const renewed = found?.spec.renewTime ? Date.parse(found.spec.renewTime) : 0;
  if (found && renewed + renewMs > now) return { afterMs: renewed + renewMs - now };
  const spec = {
    holderIdentity: name,
    leaseDurationSeconds: Math.ceil((renewMs * renewalsPerLease) / 1000),
    renewTime: microTime(now),
  };
  if (found) await hands.update(leases, { ...copyOf(found), spec: { ...found.spec, ...spec } });
  else {
    await hands.create(leases, leaseNamespace, {
      metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
      spec,
    });
  }
  return { afterMs: renewMs };
}

const fine: readonly Condition[] = [
  {
    type: 'MemoryPressure',
    status: 'False',
    reason: 'KubeletHasSufficientMemory',
    message: 'kubelet has sufficient memory available',
  },
  {
    type: 'DiskPressure',
    status: 'False',
    reason: 'KubeletHasNoDiskPressure',
    message: 'kubelet has no disk pressure',
  },
  {
    type: 'PIDPressure',
    status: 'False',
    reason: 'KubeletHasSufficientPID',
    message: 'kubelet has sufficient PID available',
  },
  { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
];

const defaultCapacity = { cpu: '8', memory: '32Gi', pods: '250', 'ephemeral-storage': '128Gi' };
const kubeletVersion = 'v1.34.4';

/** An address of its own in 10.0.0.0/9 outside the services' range, from the node's name. */
function addressOf(name: string): string {
  const [one = 0, two = 0, three = 0] = createHash('sha256').update(name).digest();
  return `10.${1 + (one % 126)}.${two}.${1 + (three % 254)}`;
}

/** The node's status if it is to be another than it is. */
export function nodeStatus(hands: Hands, node: Node): Node['status'] | undefined {
  const { status, metadata } = node;
  const { name = '' } = metadata;
  const ready = fine.every((wanted) => {
    const found = conditionOf(status.conditions, wanted.type);
    // Somebody may say that a simulated node is under pressure or not ready; only silence is made good.
    return found !== undefined && found.status !== 'Unknown';
  });
  const complete = status.addresses?.length && status.capacity && status.nodeInfo?.kubeletVersion;
  if (ready && complete) return undefined;
  const now = hands.timestamp();
  const missing = fine.filter((wanted) => {
    const found = conditionOf(status.conditions, wanted.type);
    return found === undefined || found.status === 'Unknown';
  });
  const capacity = status.capacity ?? defaultCapacity;
  const info = status.nodeInfo ?? {};
  const identity = createHash('sha256').update(`${metadata.uid}`).digest('hex').slice(0, 32);
  return {
    ...status,
    capacity,
    allocatable: status.allocatable ?? capacity,
    addresses: status.addresses?.length
      ? status.addresses
      : [
          { type: 'InternalIP', address: addressOf(name) },
          { type: 'Hostname', address: name },
        ],
    conditions: setConditions(
      status.conditions,
      missing.map((condition) => ({ ...condition, lastHeartbeatTime: now })),
      now,
    ),
    nodeInfo: {
      ...info,
      architecture: info.architecture || 'amd64',
      bootID: info.bootID || identity,
      containerRuntimeVersion: info.containerRuntimeVersion || 'containerd://2.1.4',
      kernelVersion: info.kernelVersion || '6.12.0',
      kubeProxyVersion: info.kubeProxyVersion ?? '',
      kubeletVersion: info.kubeletVersion || kubeletVersion,
      machineID: info.machineID || identity,
      operatingSystem: info.operatingSystem || 'linux',
      osImage: info.osImage || 'Simulated',
      systemUUID: info.systemUUID || identity,
    },
  };
}
