// Claims and ingresses that name no class get the one marked as default.
import type { KubeObject } from '../object.ts';
import type { Objects } from '../objects/objects.ts';
import type { AdmissionPlugin } from '../registry/admission.ts';

interface ClassDefault {
  readonly plugin: string;
  /** Storage type of what gets a class. */
  readonly of: string;
  readonly field: string;
  /** An annotation that names a class the old way. */
  readonly oldAnnotation: string;
  readonly classes: string;
  readonly marks: readonly string[];
}

const table: readonly ClassDefault[] = [
  {
    plugin: 'DefaultStorageClass',
    of: '/persistentvolumeclaims',
    field: 'storageClassName',
    oldAnnotation: 'volume.beta.kubernetes.io/storage-class',
    classes: 'storage.k8s.io/storageclasses',
    marks: ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'],
  },
  {
    plugin: 'DefaultIngressClass',
    of: 'networking.k8s.io/ingresses',
    field: 'ingressClassName',
    oldAnnotation: 'kubernetes.io/ingress.class',
    classes: 'networking.k8s.io/ingressclasses',
    marks: ['ingressclass.kubernetes.io/is-default-class'],
  },
];

export const defaultClassPlugins: readonly AdmissionPlugin[] = table.map((row) => ({
  name: row.plugin,
  waits: false,
  concerns: ({ operation, type, subresource }) =>
    operation === 'CREATE' && subresource === '' && type.storage === row.of,
  mutate({ object, context }) {
    const spec = object?.spec as Record<string, unknown> | undefined;
    if (!object || !spec || spec[row.field] !== undefined) return;
    if (object.metadata.annotations?.[row.oldAnnotation] !== undefined) return;
    const found = defaultOf(context.cluster.objects, row);
    if (found !== undefined) spec[row.field] = found;
  },
}));

/** Of several defaults the newest, then the first by name. */
function defaultOf(objects: Objects, { classes, marks }: ClassDefault): string | undefined {
  const marked = objects
    .list(classes)
    .map((entry) => JSON.parse(entry.bytes.toString()) as KubeObject)
    .filter(({ metadata }) => marks.some((mark) => metadata.annotations?.[mark] === 'true'));
  marked.sort((a, b) => (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? ''));
  return marked[0]?.metadata.name;
}
