// Every case that is recorded.
import { apply, type Case, create, type JsonMap, type Resource, rows } from './case.ts';
import { configMapRows } from './config-maps.ts';
import { bodies } from './creates.ts';
import { blobRows, widgetRows } from './custom-resources.ts';
import { deploymentRows } from './deployments.ts';
import { jsonPatchRows } from './json-patches.ts';
import { podRows, serviceRows } from './services-and-pods.ts';
import { signingRequestRows } from './signing-requests.ts';
import { metadataPatchRows, templatePatchRows } from './strategic-patches.ts';

export const cases: readonly Case[] = [
  ...rows('configmaps', [...configMapRows, ...jsonPatchRows, ...metadataPatchRows]),
  ...rows('deployments', [...deploymentRows, ...templatePatchRows]),
  ...rows('services', serviceRows),
  ...rows('pods', podRows),
  ...rows('certificatesigningrequests', signingRequestRows),
  ...rows('widgets', widgetRows),
  ...rows('blobs', blobRows),
  ...(Object.entries(bodies) as [Resource, JsonMap][]).flatMap(([resource, body]) =>
    rows(resource, [
      ['create', [], create('alice', body)],
      ['apply creates', [], apply('alice', body)],
      [
        'apply of labels beside the creator',
        [create('alice', body)],
        apply('bob', { metadata: { labels: { b: '1' } } }),
      ],
    ]),
  ),
];
