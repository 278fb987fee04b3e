import type { SQLInputValue } from 'node:sqlite';

/** SQL text with the values for its `?` marks, in order. */
export interface Sql {
  readonly text: string;
  readonly params: readonly SQLInputValue[];
}

/** Text that goes into a statement as it is. Never give it anything that came from a caller of the store. */
export function raw(text: string): Sql {
  return { text, params: [] };
}

/** Builds a statement: fragments are spliced in, everything else is bound. */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | SQLInputValue)[]): Sql {
  let text = strings[0] ?? '';
  const params: SQLInputValue[] = [];
  parts.forEach((part, index) => {
    if (isFragment(part)) {
      text += part.text;
      params.push(...part.params);
    } else {
      text += '?';
      params.push(part);
    }
    text += strings[index + 1] ?? '';
  });
  return { text, params };
}

/**
 * The fragments joined by AND or OR; `empty` when there are none. Joined as a balanced tree, because SQLite limits how deep
 * an expression may nest and a plain chain nests once per term.
 */
export function joined(parts: readonly Sql[], operator: 'AND' | 'OR', empty: Sql): Sql {
  const [first] = parts;
  if (first === undefined) return empty;
  if (parts.length === 1) return first;
  const middle = parts.length >> 1;
  const left = joined(parts.slice(0, middle), operator, empty);
  const right = joined(parts.slice(middle), operator, empty);
  return sql`(${left} ${raw(operator)} ${right})`;
}

export function commaSeparated(parts: readonly Sql[]): Sql {
  return { text: parts.map((part) => part.text).join(', '), params: parts.flatMap((part) => part.params) };
}

/** A table or index name. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A string as SQL text, for DDL, where nothing can be bound. */
export function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function isFragment(part: Sql | SQLInputValue): part is Sql {
  return typeof part === 'object' && part !== null && 'text' in part;
}
