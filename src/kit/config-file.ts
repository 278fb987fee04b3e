import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';

/** A configuration file larger than this is a mistake, and reading it could be an attack. */
export const largestFileBytes = 1024 * 1024;
/** Enough to name a value once and use it again; a file of aliases to aliases ("billion laughs") needs many more. */
const mostAliases = 20;

export interface ConfigFile {
  readonly path: string;
  /** The file's content; an empty file is an empty object. */
  readonly value: Readonly<Record<string, unknown>>;
  /** The line that a value stands on, or that of the nearest thing around it. */
  lineOf(path: readonly (string | number)[]): number | undefined;
}

/** Something about the file as such; the text never quotes the file, which may hold secrets. */
export class ConfigFileError extends Error {
  readonly line: number | undefined;

  constructor(message: string, line?: number) {
    super(message);
    this.name = 'ConfigFileError';
    this.line = line;
  }
}

/** Reads a YAML file into plain data. Throws {@link ConfigFileError}. */
export function readConfigFile(path: string): ConfigFile {
  return parseConfigFile(path, readSmallFile(path));
}

/** The text of a regular file of at most 1 MiB. Throws {@link ConfigFileError}. */
export function readSmallFile(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new ConfigFileError('is not a regular file');
    if (stat.size > largestFileBytes) throw new ConfigFileError(`is larger than ${largestFileBytes / 1024} KiB`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof ConfigFileError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: 'does not exist',
      EACCES: 'may not be read by this user',
      EISDIR: 'is a directory',
    };
    throw new ConfigFileError(reasons[String(code)] ?? `cannot be read (${String(code)})`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

export function parseConfigFile(path: string, text: string): ConfigFile {
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, strict: true });
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem) {
      throw new ConfigFileError(
        `is not valid YAML: ${problem.code.toLowerCase().replaceAll('_', ' ')}`,
        lines.linePos(problem.pos[0]).line,
      );
    }
    const value: unknown = document.toJS({ maxAliasCount: mostAliases }) ?? {};
    if (!isMapping(value)) throw new ConfigFileError('does not hold settings by name at its top level', 1);
    return {
      path,
      value,
      lineOf: (at) => {
        const start = startOf(document.contents, at);
        return start === undefined ? undefined : lines.linePos(start).line;
      },
    };
  } catch (error) {
    if (error instanceof ConfigFileError) throw error;
    if (error instanceof ReferenceError) throw new ConfigFileError('uses too many YAML aliases');
    throw new ConfigFileError('is nested too deeply or is not valid YAML');
  }
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Where in the text a value's key begins (a list's entry: the entry itself); as far along the path as the file goes. */
function startOf(root: unknown, path: readonly (string | number)[]): number | undefined {
  let node = root;
  let start: number | undefined;
  for (const step of path) {
    if (isSeq(node)) {
      node = node.items[Number(step)];
      start = isNode(node) ? (node.range?.[0] ?? start) : start;
      continue;
    }
    const pair = isMap(node)
      ? node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step))
      : undefined;
    if (!pair) break;
    start = isNode(pair.key) ? (pair.key.range?.[0] ?? start) : start;
    node = pair.value;
  }
  return start;
}
