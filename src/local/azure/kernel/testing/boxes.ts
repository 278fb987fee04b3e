// What tests of operations have in common: a type that something stands behind, and operations that do not end by themselves.
import assert from 'node:assert/strict';
import { ArmError } from '../../../../arm/errors.ts';
import { profiles } from '../profiles.ts';
import type { Provider, ResourceType } from '../provider.ts';
import { inGroup, testProviders, version } from './kernel.ts';

export const machine = inGroup('Microsoft.Test/machines/m1');
export const east = { location: 'eastus' };
/** Long enough that nothing ends by itself during a test. */
export const slow = { ...profiles.azure, durations: { '*': 3_600_000 } };

/** For assert.rejects: an ArmError of this code. */
export const code = (expected: string, status?: number) => (error: unknown) => {
  assert.ok(error instanceof ArmError, String(error));
  assert.equal(error.code, expected, error.message);
  if (status !== undefined) assert.equal(error.status, status);
  return true;
};

/** The test providers with a type `boxes` that something stands behind. */
export function withBoxes(more: Partial<ResourceType>): readonly Provider[] {
  const boxes: ResourceType = {
    type: 'boxes',
    apiVersions: [version],
    scope: 'resourceGroup',
    location: 'required',
    asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
    ...more,
  };
  return testProviders.map((provider) =>
    provider.namespace === 'Microsoft.Test' ? { ...provider, types: [...provider.types, boxes] } : provider,
  );
}
