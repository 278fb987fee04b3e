// Resource groups are resources like others, with an id of their own form. What is special about them is how they are deleted:
// group-removal.ts.
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import type { ResourceType } from './provider.ts';

/** Folded full type. */
export const groupType = 'microsoft.resources/resourcegroups';

export const resourceGroupType: ResourceType = {
  type: 'resourceGroups',
  apiVersions: [
    '2025-04-01',
    '2025-03-01',
    '2024-11-01',
    '2024-07-01',
    '2024-03-01',
    '2023-07-01',
    '2022-12-01',
    '2022-09-01',
    '2022-05-01',
    '2022-01-01',
    '2021-04-01',
    '2021-01-01',
    '2020-10-01',
    '2020-08-01',
    '2020-06-01',
    '2020-05-01',
    '2019-11-01',
    '2019-10-01',
    '2019-08-01',
    '2019-07-01',
    '2019-05-10',
    '2019-05-01',
    '2019-03-01',
    '2018-11-01',
    '2018-09-01',
    '2018-08-01',
    '2018-07-01',
    '2018-05-01',
    '2018-02-01',
    '2018-01-01',
    '2017-08-01',
    '2017-06-01',
    '2017-05-10',
    '2017-05-01',
    '2017-03-01',
    '2016-09-01',
    '2016-07-01',
    '2016-06-01',
    '2016-02-01',
    '2015-11-01',
    '2015-01-01',
    '2014-04-01-preview',
  ],
  scope: 'subscription',
  location: 'required',
  asynchrony: { create: 'none', update: 'none', delete: 'operation', headers: 'Location' },
  patch: 'merge',
  etags: false,
  prepare({ body, current }) {
    const { location, tags, managedBy } = body;
    if (managedBy !== undefined && managedBy !== null && typeof managedBy !== 'string')
      throw new ArmError(400, 'InvalidRequestContent', 'The managedBy of a resource group must be a resource id.');
    const owner = managedBy ?? current?.resource.managedBy;
    return {
      resource: {
        ...(typeof location === 'string' ? { location } : {}),
        ...(isTags(tags) ? { tags } : {}),
        ...(typeof owner === 'string' ? { managedBy: owner } : {}),
        properties: {},
      },
    };
  },
};

function isTags(value: unknown): value is { readonly [name: string]: string } {
  return isRecord(value);
}
