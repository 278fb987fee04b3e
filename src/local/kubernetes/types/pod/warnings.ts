// What the server warns of in a pod's spec without refusing it.
import type { ObjectMeta } from '../../object.ts';
import { parseQuantity } from '../../schema/quantity.ts';
import type { Container, PodSpec } from './pod-spec.ts';

const retiredVolumes: Readonly<Record<string, string>> = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
};

const retiredLabels: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};

function fractions({ resources }: Container, field: string): string[] {
  return (['limits', 'requests'] as const).flatMap((part) =>
    ['memory', 'ephemeral-storage'].flatMap((name) => {
      const text = resources?.[part]?.[name];
      if (text === undefined || parseQuantity(text).nanos % 1_000_000_000n === 0n) return [];
      return [
        `${field}.resources.${part}[${name}]: fractional byte value ${JSON.stringify(text)} is invalid, must be an integer`,
      ];
    }),
  );
}

function hiddenVariables({ env = [] }: Container, field: string): string[] {
  const seen = new Set<string>();
  return env.flatMap(({ name, value = '', valueFrom }, index) => {
    const reference = `$(${name})`;
    const hides = seen.has(name) && (valueFrom !== undefined || value === reference || !value.includes(reference));
    seen.add(name);
    return hides
      ? [
          `${field}.env[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
        ]
      : [];
  });
}

/** `field` is where the spec stands; empty prefix for pods (`spec`), `spec.template.spec` for templates. */
export function podWarnings(spec: PodSpec, _metadata: ObjectMeta, field: string): string[] {
  const found: string[] = [];
  for (const key of Object.keys(spec.nodeSelector ?? {})) {
    const message = retiredLabels[key];
    if (message !== undefined) found.push(`${field}.nodeSelector[${key}]: ${message}`);
  }
  for (const [index, { labelSelector }] of (spec.topologySpreadConstraints ?? []).entries()) {
    if (!labelSelector) {
      found.push(
        `${field}.topologySpreadConstraints[${index}].labelSelector: a null labelSelector results in matching no pod`,
      );
    }
  }
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    for (const [source, message] of Object.entries(retiredVolumes)) {
      if (volume[source] !== undefined) found.push(`${field}.volumes[${index}].${source}: ${message}`);
    }
  }
  const secrets = new Set<string>();
  for (const [index, { name = '' }] of (spec.imagePullSecrets ?? []).entries()) {
    if (name === '') found.push(`${field}.imagePullSecrets[${index}].name: invalid empty name ""`);
    else if (secrets.has(name))
      found.push(`${field}.imagePullSecrets[${index}].name: duplicate name ${JSON.stringify(name)}`);
    secrets.add(name);
  }
  const ports = new Map<string, { at: string; hostPort: number | undefined; hostIP: string | undefined }[]>();
  for (const [member, containers] of [
    ['initContainers', spec.initContainers],
    ['containers', spec.containers],
  ] as const) {
    for (const [index, container] of (containers ?? []).entries()) {
      const at = `${field}.${member}[${index}]`;
      found.push(...fractions(container, at), ...hiddenVariables(container, at));
      for (const [number, { containerPort, protocol, hostPort, hostIP }] of (container.ports ?? []).entries()) {
        const here = `${at}.ports[${number}]`;
        const key = `${containerPort}/${protocol}`;
        const others = ports.get(key) ?? [];
        for (const other of others) {
          if (other.hostPort === hostPort && other.hostIP === hostIP) {
            found.push(`${here}: duplicate port definition with ${other.at}`);
          } else if (!hostPort || !other.hostPort) found.push(`${here}: overlapping port definition with ${other.at}`);
        }
        ports.set(key, [...others, { at: here, hostPort, hostIP }]);
      }
    }
  }
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    found.push(
      `${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    );
  }
  return found;
}
