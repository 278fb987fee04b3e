// What things are called in the database. Container and schema names are checked, so they need no escaping beyond quotes.
import { createHash } from 'node:crypto';
import type { Layout } from '../engine.ts';
import { StoreError } from '../errors.ts';

/** Qualified names of one container's tables and sequences, ready for SQL text. */
export interface Names {
  readonly schema: string;
  readonly container: string;
  readonly documents: string;
  readonly changes: string;
  readonly queue: string;
  readonly turns: string;
  readonly revisions: string;
  /** Orders waiting documents and turns. */
  readonly places: string;
  readonly tokens: string;
  readonly containers: string;
  /** Numbers for advisory locks: one space per container and use, filled by hashing a text. */
  readonly partitionLocks: string;
  readonly fairKeyLocks: string;
  readonly ownerLocks: string;
}

export function checkSchemaName(schema: string): void {
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema) || schema.startsWith('pg_')) {
    throw new StoreError('Invalid', 'the schema name must be 1 to 40 of a to z, 0 to 9 and _, and not begin with pg_');
  }
}

export function namesOf(schema: string, layout: Pick<Layout, 'name'>): Names {
  const { name } = layout;
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(name)) {
    throw new StoreError(
      'Invalid',
      'a container name must be 1 to 40 of a to z, 0 to 9 and _, beginning with a letter',
    );
  }
  const of = (suffix: string) => `"${schema}"."${name}_${suffix}"`;
  const seed = (use: string) => lockNumber(`${schema} ${name} ${use}`);
  return {
    schema,
    container: name,
    documents: of('documents'),
    changes: of('changes'),
    queue: of('queue'),
    turns: of('turns'),
    revisions: of('revisions'),
    places: of('places'),
    tokens: of('tokens'),
    containers: `"${schema}"."containers"`,
    partitionLocks: seed('partition'),
    fairKeyLocks: seed('fair key'),
    ownerLocks: seed('owner'),
  };
}

/** The first hexadecimal digits of a hash. */
export function digest(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

export function literal(text: string): string {
  if (text.includes('\0'))
    throw new StoreError('Invalid', 'PostgreSQL cannot look at members with U+0000 in their name');
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

/** A number for an advisory lock. */
export function lockNumber(text: string): string {
  return BigInt.asIntN(64, BigInt(`0x${digest(text, 16)}`)).toString();
}
