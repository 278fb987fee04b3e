import { inspect } from 'node:util';

const shown = '[redacted]';

/**
 * A value that must not be seen. It prints as `[redacted]` wherever a value is turned into text (logs, errors, JSON,
 * `util.inspect`, template strings); only `reveal()` gives it away, so every use of a secret can be found by that name.
 */
export class Secret<T = string> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return shown;
  }

  toJSON(): string {
    return shown;
  }

  [Symbol.toPrimitive](): string {
    return shown;
  }

  [inspect.custom](): string {
    return shown;
  }
}
