// Pods.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../object.ts';
import { action, declare } from '../declare.ts';
import { podOnlyDefaults, podSpecDefaults } from '../pod/pod-defaults.ts';
import type { PodSpec } from '../pod/pod-spec.ts';
import { qualityOfService } from '../pod/quality-of-service.ts';
import { validateEphemeralUpdate, validatePod, validatePodUpdate } from '../pod/validate-pod.ts';
import { podWarnings } from '../pod/warnings.ts';
import { keepAllButStatus, keepStatus } from '../status.ts';

interface Pod extends KubeObject {
  spec: PodSpec;
  status?: {
    phase?: string;
    qosClass?: string;
    podIP?: string;
    podIPs?: { ip?: string }[];
    nominatedNodeName?: string;
  };
}

/** Everything of the spec stays but the members named. */
function keepSpecBut(object: KubeObject, old: KubeObject, members: readonly (keyof PodSpec)[]): void {
  const { spec } = object as Pod;
  const kept: Record<string, unknown> = { ...(old as Pod).spec };
  for (const member of members) {
    if (spec[member] === undefined) delete kept[member];
    else kept[member] = spec[member];
  }
  object.spec = kept;
  keepStatus(object, old);
}

export const pods = declare('', {
  kind: 'Pod',
  plural: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  subresources: {
    attach: action(['create', 'get'], 'PodAttachOptions'),
    binding: action(['create'], 'Binding'),
    ephemeralcontainers: {
      kind: 'status',
      prepareUpdate: (object, old) => keepSpecBut(object, old, ['ephemeralContainers']),
      validateUpdate: validateEphemeralUpdate,
    },
    eviction: action(['create'], 'Eviction', 'policy'),
    exec: action(['create', 'get'], 'PodExecOptions'),
    log: action(['get'], 'Pod'),
    portforward: action(['create', 'get'], 'PodPortForwardOptions'),
    proxy: action(['create', 'delete', 'get', 'patch', 'update'], 'PodProxyOptions'),
    resize: {
      kind: 'status',
      prepareUpdate: (object, old) => keepSpecBut(object, old, ['containers', 'initContainers']),
      validateUpdate: (object) =>
        validatePod({ ...object, spec: { ...(object.spec as object), ephemeralContainers: [] } }),
    },
    status: {
      kind: 'status',
      prepareUpdate(object, old) {
        keepAllButStatus(object, old);
        if (old.metadata.ownerReferences) object.metadata.ownerReferences = old.metadata.ownerReferences;
        else delete object.metadata.ownerReferences;
        const qosClass = (old as Pod).status?.qosClass;
        if (qosClass) object.status = { ...(object.status as object), qosClass };
      },
      // What a status may say is the kubelet's business.
      validateUpdate: () => [],
    },
  },
  strategy: {
    generation: (object, old) => !isDeepStrictEqual(object.spec, old.spec),
    defaults(object) {
      const { spec } = object as Pod;
      podSpecDefaults(spec);
      podOnlyDefaults(spec);
    },
    prepareCreate(object) {
      const pod = object as Pod;
      pod.status = { phase: 'Pending', qosClass: qualityOfService(pod.spec) };
      if ((pod.spec.terminationGracePeriodSeconds ?? 0) < 0) pod.spec.terminationGracePeriodSeconds = 1;
    },
    prepareUpdate: keepStatus,
    validate: validatePod,
    validateUpdate: validatePodUpdate,
    warnings: (object) => podWarnings((object as Pod).spec, object.metadata, 'spec'),
    fields(object) {
      const { spec, status } = object as Pod;
      return {
        'spec.nodeName': spec.nodeName ?? '',
        'spec.restartPolicy': spec.restartPolicy ?? '',
        'spec.schedulerName': spec.schedulerName ?? '',
        'spec.serviceAccountName': spec.serviceAccountName ?? '',
        'spec.hostNetwork': String(spec.hostNetwork ?? false),
        'status.phase': status?.phase ?? '',
        'status.podIP': status?.podIPs?.[0]?.ip ?? status?.podIP ?? '',
        'status.nominatedNodeName': status?.nominatedNodeName ?? '',
      };
    },
    grace(object, asked) {
      const { spec, status } = object as Pod;
      // Nobody runs it, or it has ended: there is nothing to wait for.
      if (!spec.nodeName || status?.phase === 'Succeeded' || status?.phase === 'Failed') return 0;
      const seconds = asked ?? spec.terminationGracePeriodSeconds ?? 30;
      return seconds < 0 ? 1 : seconds;
    },
  },
});
