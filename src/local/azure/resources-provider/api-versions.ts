import { resourceGroupType } from '../kernel/resource-group.ts';

/** The versions of Resource Manager's own paths, newest first. */
export const ownVersions: readonly string[] = resourceGroupType.apiVersions;

/** Of preview features. */
export const featureVersions: readonly string[] = ['2021-07-01', '2015-12-01', '2014-08-01-preview'];
