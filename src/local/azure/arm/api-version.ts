// The api-version of a request, against those that a type or path has.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';

const form = /^\d{4}-\d{2}-\d{2}(?:-(?:preview|alpha|beta|rc|privatepreview))?$/i;

/** The version asked for; throws for none and for what cannot be one. */
export function requestedVersion(given: string | undefined): string {
  if (given === undefined || given === '')
    throw new ArmError(
      400,
      'MissingApiVersionParameter',
      'The api-version query parameter (?api-version=) is required for all requests.',
    );
  if (!form.test(given))
    throw new ArmError(
      400,
      'InvalidApiVersionParameter',
      `The api-version '${given.slice(0, 64)}' is invalid. The api-version must be in the form of YYYY-MM-DD, or YYYY-MM-DD-preview.`,
    );
  return given;
}

/** For requests that name more than one. */
export function repeatedVersion(): ArmError {
  return new ArmError(
    400,
    'InvalidApiVersionParameter',
    'The api-version query parameter is given more than once. Exactly one (?api-version=) is required.',
  );
}

/** For paths of Resource Manager's own. */
export function checkOwnVersion(apiVersion: string, supported: readonly string[]): void {
  if (supported.includes(foldCase(apiVersion))) return;
  throw new ArmError(
    400,
    'InvalidApiVersionParameter',
    `The api-version '${apiVersion}' is invalid. The supported versions are '${supported.join(',')}'.`,
  );
}
