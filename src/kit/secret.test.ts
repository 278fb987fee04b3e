import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { format, inspect } from 'node:util';
import pino from 'pino';
import { Secret } from './secret.ts';

const hidden = 'correct horse battery staple';
const secret = new Secret(hidden);
const within = { user: 'admin', login: { password: secret }, list: [secret], map: new Map([['k', secret]]) };

/** An error that carries the secret in every way an error can. */
function failure(): Error {
  const error = new Error(`login with ${secret} failed`, { cause: secret });
  return Object.assign(error, { password: secret, within });
}

/** What one pino line says. */
function logged(write: (log: pino.Logger) => void): string {
  const lines: string[] = [];
  write(pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }));
  return lines.join('');
}

suite('a secret', () => {
  test('is given away by reveal, and is the very value', () => {
    const bytes = Buffer.from(hidden);
    assert.equal(secret.reveal(), hidden);
    assert.equal(new Secret(bytes).reveal(), bytes);
  });

  const prints: Readonly<Record<string, () => string>> = {
    'String()': () => String(secret),
    'a template': () => `${secret}`,
    'joining an array': () => [secret, secret].join(),
    toLocaleString: () => secret.toLocaleString(),
    'JSON.stringify': () => JSON.stringify(secret),
    'JSON.stringify of an object': () => JSON.stringify(within),
    'util.inspect': () => inspect(secret),
    'util.inspect with hidden members': () => inspect(within, { showHidden: true, depth: 9, getters: true }),
    'util.format': () => format('%s %o %O %j %d', secret, within, within, within, secret),
    "an error's text": () => String(failure()),
    "an error's stack": () => String(failure().stack),
    'util.inspect of an error': () => inspect(failure(), { depth: 9, showHidden: true }),
    'an aggregate error': () => inspect(new AggregateError([failure(), secret]), { depth: 9 }),
    'pino, as a member': () => logged((log) => log.info({ password: secret, within }, 'in')),
    'pino, in the message': () => logged((log) => log.info('%s %o %j', secret, within, secret)),
    'pino, in an error': () => logged((log) => log.error({ err: failure() }, 'out')),
    'pino, in a child logger': () => logged((log) => log.child({ password: secret }).info('in')),
  };
  for (const [where, print] of Object.entries(prints)) {
    test(`is [redacted] in ${where}`, () => {
      const shown = print();
      assert.equal(shown.includes(hidden), false, shown);
      assert.ok(shown.includes('[redacted]'), shown);
    });
  }

  const leaves: Readonly<Record<string, () => unknown>> = {
    'its own members': () => Reflect.ownKeys(secret),
    'a spread': () => ({ ...secret }),
    'a clone': () => structuredClone(secret),
    'pino, as the whole event': () => logged((log) => log.info(secret)),
    'a failed assertion': () => {
      try {
        assert.deepEqual({ password: secret }, { password: 'guess' });
      } catch (error) {
        return error;
      }
      throw new Error('the assertion held');
    },
    'util.inspect without custom printing': () => inspect(secret, { customInspect: false, showHidden: true }),
  };
  for (const [where, look] of Object.entries(leaves)) {
    test(`is not found in ${where}`, () => {
      const shown = inspect(look(), { depth: 9, showHidden: true });
      assert.equal(shown.includes(hidden), false, shown);
    });
  }

  test('hides bytes as well as text', () => {
    const bytes = new Secret(Buffer.from(hidden));
    for (const shown of [`${bytes}`, inspect(bytes, { showHidden: true }), JSON.stringify({ bytes })]) {
      assert.ok(shown.includes('[redacted]'));
      assert.equal(/636f7272|Y29ycm|114/.test(shown), false, shown);
    }
  });
});
