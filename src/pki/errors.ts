/**
 * Why something with a certificate did not work:
 * - `missing`: a file is not there or cannot be read
 * - `not-a-directory`: files are to go where a file stands in the way, or where nothing can be made
 * - `garbage`: the text is not the PEM it should be
 * - `key-mismatch`: the private key belongs to another certificate
 * - `expired`, `not-yet-valid`: judged by the clock
 * - `not-an-authority`: the certificate may not sign others
 * - `bad-name`: a name that cannot be put in a certificate
 * - `refused`: a certificate request asks for what the policy does not allow
 */
export type PkiReason =
  | 'missing'
  | 'not-a-directory'
  | 'garbage'
  | 'key-mismatch'
  | 'expired'
  | 'not-yet-valid'
  | 'not-an-authority'
  | 'bad-name'
  | 'refused';

/** The message names the file or the value at fault and what would be right. It never holds key material. */
export class PkiError extends Error {
  readonly reason: PkiReason;

  constructor(reason: PkiReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PkiError';
    this.reason = reason;
  }
}
