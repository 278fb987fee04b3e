// What a pod's spec gets when it does not say: the same in pods and in every template.
import { canonicalQuantity, formatQuantity, parseQuantity, quantityMilliValue } from '../../schema/quantity.ts';
import type { Container, DownwardItems, Handler, PodSpec, Probe, Resources, Volume } from './pod-spec.ts';

const fileMode = 0o644;

/** Whether an image is named by the tag `latest`, by leaving out a tag, and by no digest. */
function isLatest(image: string): boolean {
  if (image.includes('@')) return false;
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  return tag === undefined ? /^[a-z0-9][^\s]*$/.test(image) : tag === 'latest';
}

const pullPolicy = (image: string): string => (isLatest(image) ? 'Always' : 'IfNotPresent');

/** Quantities of resources are kept to the thousandth. */
function roundResources(resources: Resources | undefined): void {
  for (const [name, text] of Object.entries(resources ?? {})) {
    const quantity = parseQuantity(text);
    if (quantity.nanos % 1_000_000n === 0n) continue;
    const nanos = quantityMilliValue(quantity) * 1_000_000n;
    if (resources) resources[name] = canonicalQuantity(formatQuantity({ ...quantity, nanos }));
  }
}

function handlerDefaults(handler: Handler | undefined): void {
  if (handler?.httpGet) {
    handler.httpGet.path ||= '/';
    handler.httpGet.scheme ||= 'HTTP';
  }
  if (handler?.grpc) handler.grpc.service ??= '';
}

function probeDefaults(probe: Probe | undefined): void {
  if (!probe) return;
  handlerDefaults(probe);
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
}

function containerDefaults(container: Container): void {
  container.imagePullPolicy ||= pullPolicy(container.image ?? '');
  container.terminationMessagePath ||= '/dev/termination-log';
  container.terminationMessagePolicy ||= 'File';
  for (const port of container.ports ?? []) port.protocol ||= 'TCP';
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef) valueFrom.fieldRef.apiVersion ||= 'v1';
  }
  roundResources(container.resources.limits);
  roundResources(container.resources.requests);
  probeDefaults(container.livenessProbe);
  probeDefaults(container.readinessProbe);
  probeDefaults(container.startupProbe);
  handlerDefaults(container.lifecycle?.postStart);
  handlerDefaults(container.lifecycle?.preStop);
}

function downwardDefaults(volume: DownwardItems | undefined): void {
  for (const { fieldRef } of volume?.items ?? []) if (fieldRef) fieldRef.apiVersion ||= 'v1';
}

function volumeDefaults(volume: Volume): void {
  if (Object.keys(volume).every((member) => member === 'name')) volume.emptyDir = {};
  if (volume.secret) volume.secret.defaultMode ??= fileMode;
  if (volume.configMap) volume.configMap.defaultMode ??= fileMode;
  if (volume.hostPath) volume.hostPath.type ??= '';
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= fileMode;
    downwardDefaults(volume.downwardAPI);
  }
  if (volume.projected) {
    volume.projected.defaultMode ??= fileMode;
    for (const source of volume.projected.sources ?? []) {
      downwardDefaults(source.downwardAPI);
      if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600;
    }
  }
  if (volume.ephemeral?.volumeClaimTemplate) volume.ephemeral.volumeClaimTemplate.spec.volumeMode ??= 'Filesystem';
  if (volume.iscsi) volume.iscsi.iscsiInterface ||= 'default';
  if (volume.rbd) {
    volume.rbd.pool ||= 'rbd';
    volume.rbd.user ||= 'admin';
    volume.rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (volume.azureDisk) {
    volume.azureDisk.cachingMode ??= 'ReadWrite';
    volume.azureDisk.kind ??= 'Shared';
    volume.azureDisk.fsType ??= 'ext4';
    volume.azureDisk.readOnly ??= false;
  }
  if (volume.scaleIO) {
    volume.scaleIO.storageMode ||= 'ThinProvisioned';
    volume.scaleIO.fsType ||= 'xfs';
  }
  if (volume.image) volume.image.pullPolicy ||= pullPolicy(volume.image.reference ?? '');
}

/** Fills a pod spec, in a pod or in a template. */
export function podSpecDefaults(spec: PodSpec): void {
  // The older name of the same field follows the newer.
  spec.serviceAccountName ||= spec.serviceAccount ?? '';
  if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName;
  else {
    delete spec.serviceAccountName;
    delete spec.serviceAccount;
  }
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.restartPolicy ||= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ||= 'default-scheduler';
  for (const container of spec.containers ?? []) containerDefaults(container);
  for (const container of spec.initContainers ?? []) containerDefaults(container);
  for (const container of spec.ephemeralContainers ?? []) containerDefaults(container);
  for (const volume of spec.volumes ?? []) volumeDefaults(volume);
}

/** Fills what only a pod itself gets, not a template. */
export function podOnlyDefaults(spec: PodSpec): void {
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    const { resources, ports } = container;
    if (resources.limits) resources.requests = { ...resources.limits, ...resources.requests };
    if (!spec.hostNetwork) continue;
    for (const port of ports ?? []) if (!port.hostPort && port.containerPort) port.hostPort = port.containerPort;
  }
  spec.enableServiceLinks ??= true;
}
