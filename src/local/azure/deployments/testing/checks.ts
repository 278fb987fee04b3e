// What tests of deployments look for, and where.
import assert from 'node:assert/strict';
import { ArmError } from '../../../../arm/errors.ts';
import type { ArmResource, JsonObject } from '../../kernel/record.ts';
import { group } from './cloud.ts';

export const main = `${group}/providers/Microsoft.Resources/deployments/main`;
export const inGroup = (path: string): string => `${group}/providers/Microsoft.Test/${path}`;

/** For assert.rejects: an ArmError of this code whose message fits. */
export function refused(code: string, message: RegExp, status = 400) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof ArmError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    assert.equal(error.status, status);
    return true;
  };
}

/** Of a resource that is expected to be there with some. */
export function properties(resource: ArmResource | undefined): JsonObject {
  assert.ok(resource?.properties);
  return resource.properties;
}
