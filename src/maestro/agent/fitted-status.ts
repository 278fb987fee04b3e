// A status that the wire can carry. Feedback can be larger than what a broker takes; then it is left out, and its condition says so.
import { timeText } from '../../kube/time.ts';
import type { ManifestBundleStatus, ManifestStatus } from '../protocol/manifest-bundle.ts';

/** The status, or the same without the largest feedback values where it is larger than this many bytes as JSON. */
export function fitted(status: ManifestBundleStatus, maxBytes: number): ManifestBundleStatus {
  let left = size(status) - maxBytes;
  if (left <= 0) return status;
  const manifests = status.resourceStatus.map((manifest, at) => ({
    manifest,
    at,
    bytes: size(manifest.statusFeedback),
  }));
  const replaced = new Map<number, ManifestStatus>();
  for (const { manifest, at, bytes } of manifests.toSorted((one, other) => other.bytes - one.bytes)) {
    if (left <= 0) break;
    const without = withoutFeedback(manifest, bytes);
    replaced.set(at, without);
    left -= size(manifest) - size(without);
  }
  return { ...status, resourceStatus: status.resourceStatus.map((manifest, at) => replaced.get(at) ?? manifest) };
}

function withoutFeedback(manifest: ManifestStatus, bytes: number): ManifestStatus {
  const condition = {
    type: 'StatusFeedbackSynced',
    status: 'False',
    reason: 'StatusFeedbackSyncFailed',
    message: `the feedback is ${bytes} bytes, more than can be sent`,
  };
  const before = manifest.conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime = before?.lastTransitionTime ?? timeText(Date.now());
  return {
    ...manifest,
    statusFeedback: {},
    conditions: [...manifest.conditions.filter((each) => each !== before), { ...condition, lastTransitionTime }],
  };
}

function size(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
