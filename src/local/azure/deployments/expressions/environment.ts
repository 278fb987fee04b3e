// What an expression is evaluated in.
import type { Json } from '../../kernel/record.ts';
import type { Budget } from './budget.ts';
import type { Node } from './syntax.ts';

export interface Environment {
  readonly budget: Budget;
  /** The function of a folded name; undefined where there is none of that name. */
  find(key: string, namespace: string | undefined): Func | undefined;
  /** Variables of the lambdas around, folded names. */
  readonly locals: ReadonlyMap<string, Json>;
}

/** A function gets its arguments' values; a form gets the arguments themselves and decides which of them it evaluates. */
export type Func =
  | {
      readonly kind: 'function';
      /** Fewest and most arguments. */
      readonly arity: readonly [number, number];
      run(args: readonly Json[], call: Call): Json;
    }
  | {
      readonly kind: 'form';
      readonly arity: readonly [number, number];
      run(args: readonly Node[], call: FormCall): Json;
    };

export interface Call {
  /** As the expression spells it. */
  readonly name: string;
  readonly budget: Budget;
}

export interface FormCall extends Call {
  readonly environment: Environment;
  evaluate(node: Node, locals?: ReadonlyMap<string, Json>): Json;
}

export type FunctionTable = { readonly [lowerCaseName: string]: Func };

export function func(
  arity: number | readonly [number, number],
  run: (args: readonly Json[], call: Call) => Json,
): Func {
  return { kind: 'function', arity: typeof arity === 'number' ? [arity, arity] : arity, run };
}

export function form(
  arity: number | readonly [number, number],
  run: (args: readonly Node[], call: FormCall) => Json,
): Func {
  return { kind: 'form', arity: typeof arity === 'number' ? [arity, arity] : arity, run };
}
