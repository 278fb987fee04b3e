import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { Type } from 'typebox';
import { ConfigError, type ConfigInput, loadConfig } from './config.ts';
import { describeConfig } from './config-help.ts';
import { bytes, duration, secret } from './config-schema.ts';
import { Secret } from './secret.ts';

const dir = mkdtempSync(join(tmpdir(), 'aro-config-'));
after(() => rmSync(dir, { recursive: true }));

const schema = Type.Object({
  name: Type.String({ description: 'What the service is called.', default: 'rp' }),
  listen: Type.Object({
    port: Type.Integer({ description: 'The port.', minimum: 0, maximum: 65535, default: 8443 }),
    hosts: Type.Array(Type.String(), { description: 'Names.', default: [] }),
    plain: Type.Boolean({ description: 'Without TLS.', default: false }),
  }),
  level: Type.Union([Type.Literal('info'), Type.Literal('debug')], { description: 'Level.', default: 'info' }),
  ratio: Type.Optional(Type.Number({ description: 'Share.', minimum: 0, maximum: 1 })),
  grace: duration({ description: 'Grace.', default: '31s', minimumSeconds: 1 }),
  bodyLimit: bytes({ description: 'Limit.', default: '4MiB' }),
  database: Type.Optional(
    Type.Object({
      url: Type.String({ description: 'URL.' }),
      password: secret({ description: 'Password.' }),
      poolSize: Type.Integer({ description: 'Connections.', default: 16 }),
    }),
  ),
  identities: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), clientSecret: secret({ description: 'Secret.' }) }), {
      description: 'Who may call.',
    }),
  ),
  regions: Type.Optional(Type.Record(Type.String(), Type.Integer(), { description: 'Weights.' })),
});

let files = 0;
function yaml(text: string): string {
  const path = join(dir, `${files++}.yaml`);
  writeFileSync(path, text);
  return path;
}

/** The lines of the refusal, one per problem. */
function refusal(input: ConfigInput): string[] {
  try {
    loadConfig(schema, input);
  } catch (error) {
    assert.ok(error instanceof ConfigError, inspect(error));
    assert.equal(error.message.split('\n').length, error.problems.length + 1);
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
  assert.fail('the configuration was accepted');
}

describe('configuration', () => {
  it('has its defaults', () => {
    assert.deepEqual(loadConfig(schema, {}), {
      name: 'rp',
      listen: { port: 8443, hosts: [], plain: false },
      level: 'info',
      grace: 31,
      bodyLimit: 4 * 1024 * 1024,
    });
  });

  it('takes flags before environment before file before defaults, setting by setting', () => {
    const file = yaml('name: file\nlisten:\n  port: 1\n  hosts: [file]\nlevel: debug\n');
    const config = loadConfig(schema, {
      file,
      env: { ARO_LISTEN_PORT: '2', ARO_LISTEN_HOSTS: 'a,b', PATH: '/bin' },
      flags: ['--listen-port', '3'],
    });
    assert.equal(config.name, 'file');
    assert.equal(config.level, 'debug');
    assert.deepEqual(config.listen, { port: 3, hosts: ['a', 'b'], plain: false });
  });

  it('converts the text of variables and flags by the type of the setting', () => {
    const config = loadConfig(schema, {
      env: { ARO_RATIO: '0.25', ARO_LISTEN_PLAIN: 'true', ARO_GRACE: '1m30s', ARO_BODY_LIMIT: '512KiB' },
      flags: ['--name=123', '--listen-hosts', 'a, b', '--listen-hosts=c', '--no-listen-plain'],
    });
    assert.equal(config.ratio, 0.25);
    assert.equal(config.name, '123');
    assert.equal(config.grace, 90);
    assert.equal(config.bodyLimit, 512 * 1024);
    assert.deepEqual(config.listen.hosts, ['a', 'b', 'c']);
    assert.equal(config.listen.plain, false);
    assert.equal(loadConfig(schema, { flags: ['--listen-plain'] }).listen.plain, true);
    assert.equal(loadConfig(schema, { flags: ['--listen-plain', 'false'] }).listen.plain, false);
  });

  it('finds its file by --config, then ARO_CONFIG, then what the program says', () => {
    const [a, b, c] = [yaml('name: a'), yaml('name: b'), yaml('name: c')];
    assert.equal(loadConfig(schema, { flags: ['--config', a], env: { ARO_CONFIG: b }, file: c }).name, 'a');
    assert.equal(loadConfig(schema, { env: { ARO_CONFIG: b }, file: c }).name, 'b');
    assert.equal(loadConfig(schema, { file: c }).name, 'c');
    assert.equal(loadConfig(schema, { file: yaml('') }).name, 'rp');
    assert.equal(loadConfig(schema, { file: yaml('listen:\n') }).name, 'rp');
  });

  it('reads lists of sections and maps from the file', () => {
    const config = loadConfig(schema, {
      file: yaml('identities:\n  - name: a\n    clientSecret: s3cret\nregions: { eastus: 3 }\n'),
    });
    assert.equal(config.identities?.[0]?.clientSecret.reveal(), 's3cret');
    assert.deepEqual(config.regions, { eastus: 3 });
  });

  it('leaves an optional section away until one of its settings is given, and then asks for the rest', () => {
    assert.equal(loadConfig(schema, {}).database, undefined);
    assert.deepEqual(refusal({ env: { ARO_DATABASE_URL: 'postgres://x' } }), [
      'database.password is required: set --database-password-file, ARO_DATABASE_PASSWORD, or database.password in the file to text, or { file: path }',
    ]);
  });
});

describe('a refusal', () => {
  it('names the setting, where it was given, what was given and what is allowed', () => {
    const file = yaml('name: x\nlisten:\n  # a comment\n  port: "8443"\n');
    assert.deepEqual(refusal({ file }), [
      `listen.port (${file}:4) is "8443", allowed is a whole number from 0 to 65535`,
    ]);
    assert.deepEqual(refusal({ env: { ARO_LISTEN_PORT: '70000' } }), [
      'listen.port (ARO_LISTEN_PORT) is 70000, allowed is a whole number from 0 to 65535',
    ]);
    assert.deepEqual(refusal({ flags: ['--level', 'loud'] }), [
      'level (--level) is "loud", allowed is one of info, debug',
    ]);
  });

  it('lists every problem at once, also of what something stronger overrides', () => {
    const file = yaml(
      'listen:\n  port: no\nlevle: debug\nregions: { a: x, b: 1.5 }\nidentities: [{ nam: a }]\ngrace: 5\n',
    );
    const lines = refusal({ file, env: { ARO_LISTEN_PLAIN: 'yes' }, flags: ['--ratio', '2', '--listen-port', '1'] });
    assert.deepEqual(lines, [
      'ratio (--ratio) is 2, allowed is a number from 0 to 1',
      'listen.plain (ARO_LISTEN_PLAIN) is "yes", allowed is true or false',
      `listen.port (${file}:2) is "no", allowed is a whole number from 0 to 65535`,
      `levle (${file}:3) is not a setting; did you mean level?`,
      `regions.a (${file}:4) is "x", allowed is a whole number`,
      `regions.b (${file}:4) is 1.5, allowed is a whole number`,
      `identities.0.nam (${file}:5) is not a setting; did you mean name?`,
      `identities.0.name (${file}:5) is missing, allowed is text`,
      `identities.0.clientSecret (${file}:5) is missing, allowed is text, or { file: path }`,
      `grace (${file}:6) is 5, allowed is a duration such as 30s, 5m or 1h30m of at least 1s`,
    ]);
  });

  it('suggests the nearest flag, variable and key', () => {
    assert.deepEqual(refusal({ flags: ['--listen-prot', '1'] }), [
      '--listen-prot is not a known flag; did you mean --listen-port?',
    ]);
    assert.deepEqual(refusal({ env: { ARO_LISTEN_PROT: '1' } }), [
      'ARO_LISTEN_PROT is not a setting; did you mean ARO_LISTEN_PORT?',
    ]);
    const file = yaml('listen:\n  Port: 1\n  zzzzzzzz: 1\n');
    assert.deepEqual(refusal({ file }), [
      `listen.Port (${file}:2) is not a setting; did you mean port?`,
      `listen.zzzzzzzz (${file}:3) is not a setting; known here: port, hosts, plain`,
    ]);
  });

  it('covers variables of others only when they are named', () => {
    assert.equal(
      loadConfig(schema, { env: { ARO_UNRELATED_THING: '1' }, otherEnv: ['ARO_UNRELATED_THING'] }).name,
      'rp',
    );
    assert.equal(refusal({ env: { ARO_UNRELATED_THING: '1' } }).length, 1);
  });

  it('covers flags without a value, given twice, and stray arguments', () => {
    assert.deepEqual(
      refusal({ flags: ['--name', '--level', 'info', '--level=debug', 'stray', '--no-listen-plain=x'] }),
      [
        '--name needs a value',
        '--level is given more than once',
        'argument 5 is not a flag; settings are given as --name value',
        '--no-listen-plain takes no value',
      ],
    );
    assert.deepEqual(refusal({ flags: ['--regions', 'a=1'] }), ['--regions can only be set in the file, as regions']);
  });

  it('covers numbers and truth values that only look like such', () => {
    for (const text of ['', ' 1', '1 ', '0x10', '1_000', '01', 'NaN', 'Infinity', '1e400', '--1']) {
      assert.equal(refusal({ env: { ARO_LISTEN_PORT: text } }).length, 1, JSON.stringify(text));
    }
    for (const text of ['', '1', 'yes', 'True', 'on']) {
      assert.equal(refusal({ env: { ARO_LISTEN_PLAIN: text } }).length, 1, JSON.stringify(text));
    }
    for (const text of ['', '5', '5 s', '-5s', 's', '0s', '5w']) {
      assert.equal(refusal({ env: { ARO_GRACE: text } }).length, 1, JSON.stringify(text));
    }
  });

  it('covers keys that are no keys: __proto__, constructor', () => {
    const file = yaml('__proto__: { x: 1 }\nconstructor: 1\nlisten: { __proto__: 1 }\n');
    assert.equal(refusal({ file }).length, 3);
    assert.equal(({} as Record<string, unknown>).x, undefined);
  });
});

describe('a secret', () => {
  const url = 'postgres://x';

  it('is wrapped when it comes as text, from the file or a variable', () => {
    const file = yaml(`database: { url: "${url}", password: hunter2 }`);
    for (const input of [{ file }, { env: { ARO_DATABASE_URL: url, ARO_DATABASE_PASSWORD: 'hunter2' } }]) {
      const { database } = loadConfig(schema, input);
      assert.ok(database?.password instanceof Secret);
      assert.equal(database.password.reveal(), 'hunter2');
      assert.ok(!inspect(database).includes('hunter2'));
    }
  });

  it('is read from the file it refers to, relative to the configuration file', () => {
    writeFileSync(join(dir, 'password'), 'from file\n');
    const file = yaml(`database: { url: "${url}", password: { file: password } }`);
    const path = join(dir, 'password');
    for (const input of [
      { file },
      { env: { ARO_DATABASE_URL: url, ARO_DATABASE_PASSWORD_FILE: path } },
      { flags: ['--database-url', url, '--database-password-file', path] },
    ]) {
      assert.equal(loadConfig(schema, input).database?.password.reveal(), 'from file');
    }
  });

  it('whose file cannot be used is refused by the path', () => {
    const env = { ARO_DATABASE_URL: url };
    const gone = join(dir, 'gone');
    assert.deepEqual(refusal({ env: { ...env, ARO_DATABASE_PASSWORD_FILE: gone } }), [
      `database.password (ARO_DATABASE_PASSWORD_FILE) is to be read from ${gone}, which does not exist`,
    ]);
    writeFileSync(join(dir, 'empty'), '\n');
    assert.match(
      refusal({ env: { ...env, ARO_DATABASE_PASSWORD_FILE: join(dir, 'empty') } })[0] ?? '',
      /which is empty$/,
    );
    assert.match(
      refusal({ env: { ...env, ARO_DATABASE_PASSWORD_FILE: dir } })[0] ?? '',
      /which is not a regular file$/,
    );
  });

  it('is not taken from the command line, nor twice', () => {
    assert.deepEqual(refusal({ flags: ['--database-password', 'hunter2', '--database-url', url] }), [
      '--database-password cannot be given on the command line, where others can see it; use --database-password-file or ARO_DATABASE_PASSWORD',
      'database.password is required: set --database-password-file, ARO_DATABASE_PASSWORD, or database.password in the file to text, or { file: path }',
    ]);
    const env = { ARO_DATABASE_URL: url, ARO_DATABASE_PASSWORD: 'a', ARO_DATABASE_PASSWORD_FILE: yaml('b') };
    assert.match(refusal({ env }).join(), /is also given as ARO_DATABASE_PASSWORD; keep one of them/);
  });

  it('that the schema does not call one is still known by its name', () => {
    const plain = Type.Object({ adminPassword: Type.String({ maxLength: 3 }) });
    assert.throws(() => loadConfig(plain, { env: { ARO_ADMIN_PASSWORD: 'hunter2' } }), {
      message:
        /adminPassword \(ARO_ADMIN_PASSWORD\) is \[redacted\] \(string\), allowed is text of at most 3 characters$/,
    });
  });

  it('never stands in a refusal, whatever is wrong with it', () => {
    const hidden = 'hunter2';
    const inputs: ConfigInput[] = [
      { file: yaml(`database: { url: x, password: [${hidden}] }`) },
      { file: yaml(`database: { url: x, password: { fil: ${hidden} } }`) },
      { file: yaml(`database: { url: x, pasword: ${hidden} }`) },
      { file: yaml(`databse: { url: x, password: ${hidden} }`) },
      { file: yaml(`database: { url: x, password: "${hidden}`) },
      { file: yaml(`database: { url: x, password: *${hidden} }`) },
      { file: yaml(`database: { url: x, password: !${hidden} x }`) },
      { file: yaml(`database: ["password", "${hidden}"]`) },
      { file: yaml(`identities: [{ clientSecret: { a: ${hidden} } }]`) },
      { flags: ['--database-pasword', hidden] },
      { flags: [`--database-pasword=${hidden}`] },
      { flags: ['--database-password', hidden] },
      { flags: [hidden] },
      { env: { ARO_DATABASE_PASWORD: hidden } },
    ];
    for (const input of inputs) assert.ok(!refusal(input).join('\n').includes(hidden), inspect(input));
  });
});

describe('a file', () => {
  it('that is missing, too large or not YAML is refused by path and line', () => {
    const gone = join(dir, 'gone.yaml');
    assert.deepEqual(refusal({ file: gone }), [`(${gone}) does not exist`]);
    const large = yaml(`name: ${'x'.repeat(1024 * 1024)}`);
    assert.deepEqual(refusal({ file: large }), [`(${large}) is larger than 1024 KiB`]);
    const twice = yaml('name: a\nlevel: info\nname: b\n');
    assert.deepEqual(refusal({ file: twice }), [`(${twice}:3) is not valid YAML: duplicate key`]);
    const list = yaml('- a\n');
    assert.deepEqual(refusal({ file: list }), [`(${list}:1) does not hold settings by name at its top level`]);
    assert.match(refusal({ file: yaml('a: 1\n---\nb: 1\n') })[0] ?? '', /multiple docs$/);
  });

  it('that cannot be read leaves open what is missing, but not what else is wrong', () => {
    const gone = join(dir, 'gone.yaml');
    const needed = { file: gone, env: { ARO_DATABASE_URL: 'postgres://db' } };
    assert.deepEqual(refusal(needed), [`(${gone}) does not exist`]);
    assert.deepEqual(refusal({ ...needed, flags: ['--listen-port', 'x'] }), [
      'listen.port (--listen-port) is "x", allowed is a whole number from 0 to 65535',
      `(${gone}) does not exist`,
    ]);
  });

  it('that expands without bound, or is nested without bound, is refused', () => {
    const rows = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (const [i, name] of [...'bcdefghi'].entries()) {
      rows.push(`${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`);
    }
    assert.match(refusal({ file: yaml(rows.join('\n')) })[0] ?? '', /uses too many YAML aliases$/);
    const deep = 20_000;
    assert.ok(refusal({ file: yaml(`regions: ${'['.repeat(deep)}${']'.repeat(deep)}`) }).length > 0);
  });
});

describe('a schema', () => {
  it('prints as documentation with flags, variables, what is allowed and defaults', () => {
    const text = describeConfig(schema);
    assert.match(
      text,
      /listen\.port: a whole number from 0 to 65535 \(default 8443\)\n {6}The port\.\n {6}--listen-port {3}ARO_LISTEN_PORT/,
    );
    assert.match(
      text,
      /database\.password: .*\n {6}Password\.\n {6}--database-password-file {3}ARO_DATABASE_PASSWORD {3}ARO_DATABASE_PASSWORD_FILE/,
    );
    assert.match(text, /listen\.plain: true or false .*\n.*\n {6}--listen-plain, --no-listen-plain/);
    assert.match(text, /regions: a map \(optional\)\n {6}Weights\.\n {6}in the file only/);
  });

  it('in which two settings share a flag is a mistake of the program', () => {
    const clash = Type.Object({ a: Type.Object({ bC: Type.String() }), aB: Type.Object({ c: Type.String() }) });
    assert.throws(() => loadConfig(clash, {}), /settings aB\.c and a\.bC are both --a-b-c/);
  });
});
