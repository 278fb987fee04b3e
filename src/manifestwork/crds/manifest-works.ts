// The definition of ManifestWork.
import { conditions, definition, list, object, oneOf, type Schema, text } from './schema.ts';

const texts = list(text);
const identifier = object({ group: text, resource: text, namespace: text, name: text }, ['name', 'resource']);

const updateStrategy = object(
  {
    type: { ...oneOf('Update', 'CreateOnly', 'ServerSideApply', 'ReadOnly'), default: 'Update' },
    serverSideApply: object({
      force: { type: 'boolean' },
      fieldManager: { type: 'string', default: 'work-agent' },
      ignoreFields: list(
        object(
          {
            condition: { ...oneOf('OnSpokeChange', 'OnSpokePresent'), default: 'OnSpokePresent' },
            jsonPaths: texts,
            jsonPointers: texts,
            jqPathExpressions: texts,
          },
          ['condition'],
        ),
      ),
    }),
  },
  ['type'],
);

const manifestConfig = object(
  {
    resourceIdentifier: identifier,
    updateStrategy,
    feedbackRules: list(
      object(
        {
          type: oneOf('WellKnownStatus', 'JSONPaths'),
          jsonPaths: list(object({ name: text, path: text, version: text }, ['name', 'path'])),
        },
        ['type'],
      ),
    ),
    conditionRules: list(
      object(
        {
          condition: text,
          type: oneOf('WellKnownConditions', 'CEL'),
          celExpressions: texts,
          message: text,
          messageExpression: text,
        },
        ['condition', 'type'],
      ),
    ),
    feedbackScrapeType: oneOf('Poll', 'Watch'),
  },
  ['resourceIdentifier'],
);

const spec = object({
  workload: object({
    manifests: list({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    }),
  }),
  deleteOption: object({
    propagationPolicy: { ...oneOf('Foreground', 'Orphan', 'SelectivelyOrphan'), default: 'Foreground' },
    selectivelyOrphans: object({ orphaningRules: list(identifier) }),
    ttlSecondsAfterFinished: { type: 'integer', format: 'int64', minimum: 0 },
  }),
  manifestConfigs: list(manifestConfig),
  executor: object({
    subject: object(
      {
        type: oneOf('ServiceAccount'),
        serviceAccount: object({ namespace: text, name: text }, ['namespace', 'name']),
      },
      ['type'],
    ),
  }),
});

const fieldValue = object(
  {
    type: oneOf('Integer', 'String', 'Boolean', 'JsonRaw'),
    integer: { type: 'integer', format: 'int64' },
    string: text,
    boolean: { type: 'boolean' },
    jsonRaw: text,
  },
  ['type'],
);

const manifestStatus = object(
  {
    resourceMeta: object(
      {
        ordinal: { type: 'integer', format: 'int32' },
        group: text,
        version: text,
        kind: text,
        resource: text,
        name: text,
        namespace: text,
      },
      ['ordinal'],
    ),
    statusFeedback: object({ values: list(object({ name: text, fieldValue }, ['name', 'fieldValue'])) }),
    conditions,
  },
  ['resourceMeta'],
);

const status: Schema = object({ conditions, resourceStatus: object({ manifests: list(manifestStatus) }) });

export const manifestWorkDefinition = definition(
  { kind: 'ManifestWork', plural: 'manifestworks', singular: 'manifestwork', scope: 'Namespaced' },
  spec,
  status,
  [
    { name: 'Applied', type: 'string', jsonPath: '.status.conditions[?(@.type=="Applied")].status' },
    { name: 'Available', type: 'string', jsonPath: '.status.conditions[?(@.type=="Available")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
);
