import { ArmError } from '../../../arm/errors.ts';

export function badRequest(code: string, message: string, target?: string): ArmError {
  return new ArmError(400, code, message, target === undefined ? {} : { target });
}
