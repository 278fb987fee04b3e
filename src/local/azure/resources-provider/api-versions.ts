import { resourceGroupType } from '../kernel/resource-group.ts';

/** The versions of Resource Manager's own paths, newest first. */
export const ownVersions: readonly string[] = [
  ...resourceGroupType.apiVersions,
  '2022-06-01',
  '2020-01-01',
  '2019-09-01',
  '2019-06-01',
  '2014-04-01',
].sort((a, b) => (a < b ? 1 : -1));

/** Of preview features. */
export const featureVersions: readonly string[] = ['2021-07-01', '2015-12-01', '2014-08-01-preview'];
