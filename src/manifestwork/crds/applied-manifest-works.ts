// The definition of AppliedManifestWork.
import { definition, list, object, text, time } from './schema.ts';

const fixed = (name: string) => [{ rule: 'self == oldSelf', message: `${name} cannot be changed` }];

export const appliedManifestWorkDefinition = definition(
  { kind: 'AppliedManifestWork', plural: 'appliedmanifestworks', singular: 'appliedmanifestwork', scope: 'Cluster' },
  object(
    {
      hubHash: { ...text, 'x-kubernetes-validations': fixed('hubHash') },
      agentID: text,
      manifestWorkName: { ...text, 'x-kubernetes-validations': fixed('manifestWorkName') },
    },
    ['hubHash', 'manifestWorkName'],
  ),
  object({
    appliedResources: list(
      object({ group: text, version: text, resource: text, namespace: text, name: text, uid: text }, [
        'name',
        'resource',
        'version',
      ]),
    ),
    evictionStartTime: time,
  }),
  [
    { name: 'Work', type: 'string', jsonPath: '.spec.manifestWorkName' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
);
