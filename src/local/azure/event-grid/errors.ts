import { ArmError } from '../../../arm/errors.ts';

/** As Event Grid refuses what a request says. */
export function badRequest(message: string): ArmError {
  return new ArmError(400, 'BadRequest', message);
}
