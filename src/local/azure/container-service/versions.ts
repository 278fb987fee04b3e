// The Kubernetes versions that clusters can have, oldest first, and which follows which.

import type { Json } from '../kernel/record.ts';
import { badRequest } from './errors.ts';

export const kubernetesVersions: readonly string[] = [
  '1.31.11',
  '1.31.12',
  '1.32.7',
  '1.32.8',
  '1.33.3',
  '1.33.4',
  '1.34.0',
  '1.34.1',
];

/** What a cluster gets that asks for none. */
export const defaultVersion = '1.33.4';

const minorOf = (version: string): number => Number(version.split('.')[1]);
const order = (version: string): number => kubernetesVersions.indexOf(version);

/** `1.33` is the newest patch of it. Throws for versions that there are not. */
export function supportedVersion(asked: string): string {
  const found = kubernetesVersions.findLast((version) => version === asked || version.startsWith(`${asked}.`));
  if (found !== undefined) return found;
  throw badRequest(
    'K8sVersionNotSupported',
    `Managed cluster is on version ${asked.slice(0, 32)}, which is not supported in this region. Please use [az aks get-versions] command to get the supported version list in this region.`,
  );
}

/** A cluster goes up by one minor version at a time, and never down. */
export function demandUpgrade(from: string, to: string): void {
  if (order(to) < order(from))
    throw badRequest(
      'OperationNotAllowed',
      `Downgrading the cluster from version ${from} to version ${to} is not allowed.`,
    );
  if (minorOf(to) > minorOf(from) + 1)
    throw badRequest(
      'OperationNotAllowed',
      `Upgrading the cluster from version ${from} to version ${to} is not allowed: minor versions cannot be skipped.`,
    );
}

export function upgradesOf(version: string): readonly string[] {
  return kubernetesVersions.filter((other) => order(other) > order(version) && minorOf(other) <= minorOf(version) + 1);
}

/** As `locations/{location}/kubernetesVersions` lists them. */
export function versionList(): Json {
  const minors = [...new Set(kubernetesVersions.map((version) => version.split('.').slice(0, 2).join('.')))];
  return {
    values: minors.map((version) => ({
      version,
      ...(defaultVersion.startsWith(`${version}.`) ? { isDefault: true } : {}),
      isPreview: false,
      capabilities: { supportPlan: ['KubernetesOfficial', 'AKSLongTermSupport'] },
      patchVersions: Object.fromEntries(
        kubernetesVersions
          .filter((patch) => patch.startsWith(`${version}.`))
          .map((patch) => [patch, { upgrades: upgradesOf(patch) }]),
      ),
    })),
  };
}
