import { ArmError } from '../../../arm/errors.ts';

/** As Cosmos DB refuses what a request says. */
export function badRequest(message: string, target?: string): ArmError {
  return new ArmError(400, 'BadRequest', message, target === undefined ? {} : { target });
}
