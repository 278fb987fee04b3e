// What a decoder says of bytes that are not the message they should be. Decoders never throw; what may be a message of
// the other side's is answered by a refusal, which a receiver counts, logs and, where the wire has a way, sends back.

/** Why something was refused; a bounded set, fit for a metric's label. */
export type RefusalCode =
  /** Larger than a limit of limits.ts. */
  | 'too-large'
  /** Not a CloudEvent in any encoding known here. */
  | 'unknown-encoding'
  /** The bytes are broken: bad protobuf, bad JSON, text that is not UTF-8. */
  | 'malformed'
  /** An attribute that this kind of event cannot be without is not there. */
  | 'missing-attribute'
  /** An attribute is there with a value that it cannot have. */
  | 'invalid-attribute'
  /** The type is none of the types of event-type.ts, or one that is not sent in this direction. */
  | 'unknown-type'
  /** The data do not have the form that belongs to the type. */
  | 'invalid-data';

export interface Refusal {
  readonly code: RefusalCode;
  /** For a person. Names attributes and places, never quotes data, which may hold secrets. */
  readonly message: string;
}

export type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

export function decoded<T>(value: T): Decoded<T> {
  return { ok: true, value };
}

export function refused(code: RefusalCode, message: string): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { code, message } };
}

/** Thrown by encoders for what the wire cannot carry: our own side's fault, or a bundle that is too large. */
export class ProtocolError extends Error {
  readonly code: RefusalCode;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.name = 'ProtocolError';
    this.code = refusal.code;
  }
}

/** The value, or ProtocolError where a refusal has nowhere else to go. */
export function accepted<T>(result: Decoded<T>): T {
  if (result.ok) return result.value;
  throw new ProtocolError(result.refusal);
}
