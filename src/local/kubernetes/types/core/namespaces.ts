// Namespaces: removed by their controller once empty, hence the finalizers in their spec.
import type { KubeObject } from '../../object.ts';
import { invalidBy } from '../../schema/field-errors.ts';
import { labelName, qualifiedName } from '../../schema/names.ts';
import type { FieldError } from '../../status.ts';
import { declare, everyVerb } from '../declare.ts';
import { keepStatus, status } from '../status.ts';

interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
}

const nameLabel = 'kubernetes.io/metadata.name';

function validate(object: KubeObject): FieldError[] {
  return ((object as Namespace).spec?.finalizers ?? []).flatMap((finalizer) =>
    invalidBy('spec.finalizers', finalizer, qualifiedName(finalizer)),
  );
}

export const namespaces = declare('', {
  kind: 'Namespace',
  plural: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  verbs: everyVerb.filter((verb) => verb !== 'deletecollection'),
  subresources: {
    finalize: {
      kind: 'status',
      verbs: ['update'],
      prepareUpdate: keepStatus,
    },
    status,
  },
  strategy: {
    generation: false,
    nameRule: labelName,
    defaults(object) {
      const namespace = object as Namespace;
      namespace.status ??= {};
      namespace.status.phase ||= 'Active';
      const { name } = object.metadata;
      if (name) object.metadata.labels = { ...object.metadata.labels, [nameLabel]: name };
    },
    prepareCreate(object) {
      const namespace = object as Namespace;
      namespace.status = { phase: 'Active' };
      const finalizers = namespace.spec?.finalizers ?? [];
      namespace.spec = {
        ...namespace.spec,
        finalizers: finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'],
      };
      // Also the name that the server made up.
      object.metadata.labels = { ...object.metadata.labels, [nameLabel]: object.metadata.name ?? '' };
    },
    prepareUpdate(object, old) {
      const before = (old as Namespace).spec?.finalizers;
      const { finalizers: _, ...rest } = (object as Namespace).spec ?? {};
      object.spec = { ...rest, ...(before ? { finalizers: before } : {}) };
      keepStatus(object, old);
    },
    validate,
    validateUpdate: () => [],
    fields: (object) => ({ 'status.phase': (object as Namespace).status?.phase ?? '' }),
  },
});
