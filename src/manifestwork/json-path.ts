// The JSONPath of Kubernetes, as feedback rules and ignored fields use it: what stands between the braces of kubectl's.
import { isRecord } from '../arm/record.ts';

/** A path that cannot be read, or that does not fit the object. */
export class JsonPathError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPathError';
  }
}

type Operand = { readonly path: readonly Step[] } | { readonly value: string | number | boolean };

type Step =
  | { readonly kind: 'members'; readonly names: readonly string[] }
  | { readonly kind: 'items'; readonly indexes: readonly number[] }
  | { readonly kind: 'slice'; readonly from: number; readonly to: number | undefined; readonly by: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'descend' }
  | { readonly kind: 'filter'; readonly left: Operand; readonly operator: string; readonly right: Operand | undefined };

export interface JsonPath {
  /** Every value the path leads to; none where a member is missing. Throws JsonPathError where it does not fit the object. */
  find(object: unknown): readonly unknown[];
  /** Removes every member the path leads to. Items of lists stay: a list that lost some would mean something else. */
  remove(object: unknown): void;
}

const longestPath = 4096;
const deepestFilter = 10;
/** Values looked at for one path: descending again and again through a large object must end. */
const mostVisits = 200_000;

/** Reads a path such as `.status.conditions[?(@.type=="Ready")].status`. Throws JsonPathError. */
export function parseJsonPath(text: string): JsonPath {
  if (text.length > longestPath) throw new JsonPathError(`the path is longer than ${longestPath} characters`);
  const reader = new PathReader(text);
  const steps = reader.path(0);
  reader.end();
  const last = steps.at(-1);
  return {
    find: (object) => walk([object], steps, { left: mostVisits }),
    remove(object) {
      if (last?.kind !== 'members') return;
      for (const parent of walk([object], steps.slice(0, -1), { left: mostVisits })) {
        if (!isRecord(parent)) continue;
        for (const name of last.names) delete (parent as Record<string, unknown>)[name];
      }
    },
  };
}

const nameForm = /(?:\\.|[^\s.[\]\\(),'"=!<>|&?@$*{}])+/y;
const quotedForm = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/y;
const numberForm = /-?\d+(?:\.\d+)?/y;
const indexForm = /-?\d{1,9}/y;
const operatorForm = /==|!=|<=|>=|<|>/y;

class PathReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  path(depth: number): Step[] {
    this.#blank();
    if (!this.#take('$')) this.#take('@');
    const steps: Step[] = [];
    for (;;) {
      if (this.#take('..')) {
        steps.push({ kind: 'descend' });
        if (this.#text[this.#at] !== '[') steps.push(this.#member());
      } else if (this.#take('.')) {
        // `.['a']` is read as `['a']`, and a path that is only `.` is the object.
        const next = this.#text[this.#at];
        if (next !== '[' && next !== undefined) steps.push(this.#member());
      } else if (this.#take('[')) {
        steps.push(this.#bracket(depth));
      } else return steps;
    }
  }

  end(): void {
    this.#blank();
    if (this.#at < this.#text.length) throw this.#unexpected();
  }

  #member(): Step {
    if (this.#take('*')) return { kind: 'all' };
    const name = this.#match(nameForm);
    if (name === undefined) throw this.#unexpected();
    return { kind: 'members', names: [unescaped(name[0])] };
  }

  #bracket(depth: number): Step {
    this.#blank();
    const step = this.#inBracket(depth);
    this.#blank();
    if (!this.#take(']')) throw new JsonPathError('unterminated array');
    return step;
  }

  #inBracket(depth: number): Step {
    if (this.#take('*')) return { kind: 'all' };
    if (this.#take('?(')) return this.#filter(depth + 1);
    const names: string[] = [];
    const indexes: number[] = [];
    do {
      this.#blank();
      const quoted = this.#match(quotedForm);
      if (quoted) names.push(unescaped(quoted[1] ?? quoted[2] ?? ''));
      else {
        const index = this.#match(indexForm);
        if (this.#text[this.#at] === ':') return this.#slice(index);
        if (!index) throw this.#unexpected();
        indexes.push(Number(index[0]));
      }
      this.#blank();
    } while (this.#take(','));
    if (names.length > 0 && indexes.length > 0) throw new JsonPathError('a union of names and indexes');
    return names.length > 0 ? { kind: 'members', names } : { kind: 'items', indexes };
  }

  #slice(from: RegExpExecArray | undefined): Step {
    this.#take(':');
    const to = this.#match(indexForm);
    const by = this.#take(':') ? Number(this.#match(indexForm)?.[0] ?? 1) : 1;
    if (by <= 0) throw new JsonPathError('step must be > 0');
    return { kind: 'slice', from: Number(from?.[0] ?? 0), to: to ? Number(to[0]) : undefined, by };
  }

  #filter(depth: number): Step {
    if (depth > deepestFilter) throw new JsonPathError('too many filters within filters');
    const left = this.#operand(depth);
    this.#blank();
    const operator = this.#match(operatorForm)?.[0];
    const right = operator === undefined ? undefined : this.#operand(depth);
    this.#blank();
    if (!this.#take(')')) throw new JsonPathError('unterminated filter');
    return { kind: 'filter', left, operator: operator ?? 'exists', right };
  }

  #operand(depth: number): Operand {
    this.#blank();
    const quoted = this.#match(quotedForm);
    if (quoted) return { value: unescaped(quoted[1] ?? quoted[2] ?? '') };
    const number = this.#match(numberForm);
    if (number) return { value: Number(number[0]) };
    if (this.#take('true')) return { value: true };
    if (this.#take('false')) return { value: false };
    const before = this.#at;
    const path = this.path(depth);
    if (this.#at === before) throw this.#unexpected();
    return { path };
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = this.#at;
    const found = form.exec(this.#text) ?? undefined;
    if (found) this.#at = form.lastIndex;
    return found;
  }

  #blank(): void {
    while (this.#text[this.#at] === ' ') this.#at++;
  }

  #unexpected(): JsonPathError {
    const rest = this.#text.slice(this.#at, this.#at + 40);
    return new JsonPathError(rest === '' ? 'the path ends too early' : `unexpected ${JSON.stringify(rest)}`);
  }
}

interface Visits {
  left: number;
}

function walk(values: readonly unknown[], steps: readonly Step[], visits: Visits): readonly unknown[] {
  let found = values;
  for (const step of steps) {
    const next: unknown[] = [];
    for (const value of found) {
      for (const each of follow(value, step, visits)) {
        if (--visits.left < 0) throw new JsonPathError('the path leads to too many values');
        next.push(each);
      }
    }
    found = next;
  }
  return found;
}

function* follow(value: unknown, step: Step, visits: Visits): Generator<unknown, void, void> {
  switch (step.kind) {
    case 'members':
      for (const name of step.names) {
        if (isRecord(value) && Object.hasOwn(value, name)) yield value[name];
      }
      return;
    case 'items':
      if (value === null) return;
      if (!Array.isArray(value)) throw new JsonPathError('an index of what is not a list');
      for (const index of step.indexes) {
        if (index >= value.length || index < -value.length) {
          throw new JsonPathError(`array index out of bounds: index ${index}, length ${value.length}`);
        }
        yield value.at(index);
      }
      return;
    case 'slice': {
      if (value === null) return;
      if (!Array.isArray(value)) throw new JsonPathError('a slice of what is not a list');
      const part = value.slice(step.from, step.to);
      for (let at = 0; at < part.length; at += step.by) yield part[at];
      return;
    }
    case 'all':
      yield* children(value);
      return;
    case 'descend': {
      const open: unknown[] = [value];
      while (open.length > 0) {
        const next = open.pop();
        yield next;
        for (const child of [...children(next)].reverse()) {
          visits.left--;
          open.push(child);
        }
        if (visits.left < 0) throw new JsonPathError('the path leads to too many values');
      }
      return;
    }
    case 'filter':
      for (const item of children(value)) if (passes(item, step, visits)) yield item;
  }
}

function children(value: unknown): Iterable<unknown> {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
}

const comparisons: Readonly<Record<string, (one: string | number, other: string | number) => boolean>> = {
  '==': (one, other) => one === other,
  '!=': (one, other) => one !== other,
  '<': (one, other) => one < other,
  '>': (one, other) => one > other,
  '<=': (one, other) => one <= other,
  '>=': (one, other) => one >= other,
};

function passes(item: unknown, filter: Step & { readonly kind: 'filter' }, visits: Visits): boolean {
  const valuesOf = (operand: Operand): readonly unknown[] =>
    'path' in operand ? walk([item], operand.path, visits) : [operand.value];
  const left = valuesOf(filter.left);
  if (left.length === 0) return false;
  if (filter.right === undefined) return true;
  const right = valuesOf(filter.right);
  if (right.length === 0) return false;
  if (left.length > 1 || right.length > 1) throw new JsonPathError('can only compare one element at a time');
  const [one, other] = [left[0], right[0]];
  if (typeof one !== typeof other) return false;
  if (typeof one === 'boolean') return filter.operator === '==' ? one === other : one !== other;
  if (typeof one !== 'string' && typeof one !== 'number') return false;
  return comparisons[filter.operator]?.(one, other as string | number) ?? false;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1');
}
