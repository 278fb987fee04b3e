// Errors in the words of vaults: a code, a message and, for some, an inner code that says more.
import { ArmError } from '../../../arm/errors.ts';

export class VaultError extends ArmError {
  /** What clients look at where the code alone does not tell, such as `SecretDisabled`. */
  readonly inner: string | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    inner?: string,
    headers?: Readonly<Record<string, string>>,
  ) {
    super(status, code, message, headers === undefined ? {} : { headers });
    this.name = 'VaultError';
    this.inner = inner;
  }
}

export function badParameter(message: string): VaultError {
  return new VaultError(400, 'BadParameter', message);
}

export function forbidden(message: string, inner?: string): VaultError {
  return new VaultError(403, 'Forbidden', message, inner);
}

export function conflict(message: string, inner?: string): VaultError {
  return new VaultError(409, 'Conflict', message, inner);
}
