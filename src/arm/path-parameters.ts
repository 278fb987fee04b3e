// Checks the parameters in the path by a table: parameter name → what it must be, and the error when it is not.
import type { FastifyInstance } from 'fastify';
import { ArmError } from './errors.ts';
import { quotable } from './query.ts';

export interface PathParameterRule {
  readonly valid: (value: string) => boolean;
  /** The error's code, such as InvalidSubscriptionID. */
  readonly code: string;
  /** Makes the message from the value, which is already safe to show. */
  readonly message: (shown: string) => string;
}

/** By the name a parameter has in route patterns (`:subscriptionId`). Names without a row must only be free of tricks. */
export type PathParameterTable = Readonly<Record<string, PathParameterRule>>;

export function pathParameters(app: FastifyInstance, table: PathParameterTable): void {
  const rules = new Map(Object.entries(table));
  app.addHook('onRequest', (request, _reply, done) => {
    const parameters = request.params as Readonly<Record<string, string>>;
    for (const name in parameters) {
      const value = parameters[name] ?? '';
      const rule = rules.get(name);
      if (rule ? rule.valid(value) : name === '*' || isHarmless(value)) continue;
      const shown = quotable(value);
      const code = rule?.code ?? 'InvalidParameter';
      const message = rule?.message(shown) ?? `The path segment '${shown}' is not valid.`;
      done(new ArmError(400, code, message, { target: name }));
      return;
    }
    done();
  });
}

/** No control characters, no separators that were hidden by encoding, no dot segments, not empty. */
function isHarmless(value: string): boolean {
  if (value === '' || value === '.' || value === '..') return false;
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code < 0x20 || code === 0x7f || code === 47 || code === 92) return false;
  }
  return value.isWellFormed();
}
