// What both definitions are made of.

export type Schema = Readonly<Record<string, unknown>>;

export const text: Schema = { type: 'string' };
export const time: Schema = { type: 'string', format: 'date-time' };

export function object(properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema {
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

export function list(items: Schema, more: Schema = {}): Schema {
  return { type: 'array', items, ...more };
}

export function oneOf(...values: readonly string[]): Schema {
  return { type: 'string', enum: values };
}

export const conditions: Schema = list(
  object(
    {
      type: {
        type: 'string',
        maxLength: 316,
        pattern:
          '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
      },
      status: oneOf('True', 'False', 'Unknown'),
      observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
      lastTransitionTime: time,
      reason: { type: 'string', minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' },
      message: { type: 'string', maxLength: 32768 },
    },
    ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  ),
);

interface Names {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly scope: 'Cluster' | 'Namespaced';
}

/** A definition of the group with one version and a status of its own. */
export function definition(names: Names, spec: Schema, status: Schema, columns: readonly Schema[]) {
  const { kind, plural, singular, scope } = names;
  const group = 'work.open-cluster-management.io';
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, plural, singular, listKind: `${kind}List` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          additionalPrinterColumns: [...columns],
          schema: {
            openAPIV3Schema: object({ apiVersion: text, kind: text, metadata: { type: 'object' }, spec, status }, [
              'spec',
            ]),
          },
          subresources: { status: {} },
        },
      ],
    },
  };
}
