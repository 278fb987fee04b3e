// Pods get the number that their priority class stands for.
import type { Entry, Objects } from '../objects/objects.ts';
import type { AdmissionPlugin } from '../registry/admission.ts';
import { createsPod, podOf, refused } from './pod.ts';

interface PriorityClass {
  readonly name: string;
  readonly value: number;
  readonly globalDefault: boolean;
  readonly preemptionPolicy: string;
}

const storage = 'scheduling.k8s.io/priorityclasses';
const preempts = 'PreemptLowerPriority';

const parsed = new WeakMap<Entry, PriorityClass>();

function classOf(entry: Entry): PriorityClass {
  const known = parsed.get(entry);
  if (known) return known;
  const object = JSON.parse(entry.bytes.toString()) as Partial<PriorityClass>;
  const found: PriorityClass = {
    name: entry.name,
    value: object.value ?? 0,
    globalDefault: object.globalDefault ?? false,
    preemptionPolicy: object.preemptionPolicy ?? preempts,
  };
  parsed.set(entry, found);
  return found;
}

/** The class of pods that name none: of several, the lowest. */
function defaultClass(objects: Objects): PriorityClass | undefined {
  let found: PriorityClass | undefined;
  for (const entry of objects.list(storage)) {
    const one = classOf(entry);
    if (one.globalDefault && (!found || one.value < found.value)) found = one;
  }
  return found;
}

export const priorityPlugin: AdmissionPlugin = {
  name: 'Priority',
  waits: false,
  concerns: (target) =>
    createsPod(target) ||
    (target.operation !== 'DELETE' && target.subresource === '' && target.type.storage === storage),
  mutate(request) {
    const pod = createsPod(request) ? podOf(request) : undefined;
    if (!pod) return;
    const { objects } = request.context.cluster;
    const { spec } = pod;
    let found: PriorityClass | undefined;
    if (spec.priorityClassName) {
      const entry = objects.get(storage, '', spec.priorityClassName);
      if (!entry) throw refused(request, `no PriorityClass with name ${spec.priorityClassName} was found`);
      found = classOf(entry);
    } else {
      found = defaultClass(objects);
      if (found) spec.priorityClassName = found.name;
    }
    const value = found?.value ?? 0;
    const policy = found?.preemptionPolicy ?? preempts;
    if (spec.priority !== undefined && spec.priority !== value) {
      throw refused(
        request,
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
      );
    }
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
      throw refused(
        request,
        `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
      );
    }
    spec.priority = value;
    spec.preemptionPolicy = policy;
  },
  validate(request) {
    if (request.type.storage !== storage || request.object?.globalDefault !== true) return;
    const other = defaultClass(request.context.cluster.objects);
    if (!other || other.name === request.object.metadata.name) return;
    throw refused(request, `PriorityClass ${other.name} is already marked as default. Only one default can exist`);
  },
};
