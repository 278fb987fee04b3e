// Where an error is, as the server points at it: at the operator, the dot, the bracket.
import type { ASTNode } from '@marcbachmann/cel-js';

/** The offset in its text that stands for a node. */
export function placeOf(node: ASTNode): number {
  const { input, start } = node;
  const after = (from: number, mark: string): number => {
    const found = input.indexOf(mark, from);
    return found < 0 ? start : found;
  };
  switch (node.op) {
    case 'value':
    case 'id':
    case 'list':
    case 'map':
    case '!_':
    case '-_':
      return start;
    case 'call':
      return after(start, '(');
    case 'rcall':
      return after(after(node.args[1].end, node.args[0]) + node.args[0].length, '(');
    case '.':
    case '.?':
      return after(node.args[0].end, '.');
    case '[]':
    case '[?]':
      return after(node.args[0].end, '[');
    case '?:':
      return after(node.args[0].end, '?');
    default:
      return after(node.args[0].end, node.op);
  }
}

/** An error as the compiler shows it: the line it is in, and a mark below. */
export function at(source: string, offset: number, message: string): string {
  const before = source.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - (before.lastIndexOf('\n') + 1);
  const shown = source.split('\n')[line - 1] ?? '';
  return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${shown}\n | ${'.'.repeat(column)}^`;
}
