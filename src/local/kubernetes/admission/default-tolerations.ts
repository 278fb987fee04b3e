// Pods stay for five minutes on a node that is not ready or cannot be reached, unless they say otherwise.
import type { AdmissionPlugin } from '../registry/admission.ts';
import { podOf, podStorage, type Toleration } from './pod.ts';

const seconds = 300;
const taints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

const tolerates = ({ key, effect }: Toleration, taint: string): boolean =>
  (!key || key === taint) && (!effect || effect === 'NoExecute');

export const defaultTolerationsPlugin: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  waits: false,
  concerns: ({ operation, type, subresource }) =>
    operation !== 'DELETE' && subresource === '' && type.storage === podStorage,
  mutate(request) {
    const pod = podOf(request);
    if (!pod) return;
    const present = pod.spec.tolerations ?? [];
    const missing = taints.filter((taint) => !present.some((toleration) => tolerates(toleration, taint)));
    if (missing.length === 0) return;
    pod.spec.tolerations = [
      ...present,
      ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds })),
    ];
  },
};
