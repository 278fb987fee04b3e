// `copyIndex`: where in its loops an expression stands.
import { foldCase } from '../../../../arm/resource-id.ts';
import { type FunctionTable, func } from '../expressions/environment.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { wantInteger } from '../expressions/values.ts';
import type { Loops } from './context.ts';

export function loopFunctions(loops: Loops): FunctionTable {
  return {
    copyindex: func([0, 2], ([first, second], call) => {
      const name = typeof first === 'string' ? foldCase(first) : '';
      const offset = typeof first === 'string' ? second : first;
      const index = loops.get(name);
      if (index === undefined) {
        throw new TemplateError(
          name === ''
            ? "The template function 'copyIndex' is not expected at this location. The function can only be used in a resource with copy specified. Please see https://aka.ms/arm-copy for usage details"
            : `The template function 'copyIndex' has a loop name '${String(first).slice(0, 100)}' that is not in scope. Please see https://aka.ms/arm-copy for usage details`,
        );
      }
      return index + (offset === undefined ? 0 : wantInteger(offset, call));
    }),
  };
}
