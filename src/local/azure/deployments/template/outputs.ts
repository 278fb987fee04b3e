// Outputs of a template.
import { foldCase } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import { evaluateText } from '../expressions/evaluate.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { isObject, memberOf } from '../expressions/values.ts';
import type { TemplateEnvironment } from './context.ts';
import { loopCount } from './evaluate-tree.ts';
import { evaluateFetching, type Reader } from './late.ts';
import { declaredType, isSecure } from './parameters.ts';
import type { Template } from './template.ts';

export interface OutputValue extends JsonObject {
  readonly type: string;
  /** Absent for secure outputs. */
  readonly value?: Json;
}

/** Values by name; those whose condition is false are left out. Throws TemplateError. */
export async function evaluateOutputs(
  template: Template,
  environment: TemplateEnvironment,
  fetched: Map<string, Json>,
  read: Reader,
): Promise<{ readonly [name: string]: OutputValue }> {
  const made: [string, OutputValue][] = [];
  for (const [name, definition] of Object.entries(template.outputs)) {
    if (!isObject(definition)) throw new TemplateError(`The template output '${name}' is not an object`);
    const condition = memberOf(definition, 'condition') ?? true;
    const wanted = typeof condition === 'string' ? evaluateText(condition, environment) : condition;
    if (wanted !== true) continue;
    const type = declaredType(definition, template);
    const value = await outputValue(name, definition, environment, fetched, read);
    made.push([name, isSecure(type) ? { type } : { type, value }]);
  }
  return Object.fromEntries(made);
}

async function outputValue(
  name: string,
  definition: JsonObject,
  environment: TemplateEnvironment,
  fetched: Map<string, Json>,
  read: Reader,
): Promise<Json> {
  const copy = memberOf(definition, 'copy');
  if (isObject(copy)) {
    const values: Json[] = [];
    const count = loopCount(memberOf(copy, 'count'), environment);
    for (let index = 0; index < count; index++) {
      const loops = new Map(environment.loops).set('', index).set(foldCase(name), index);
      values.push(await evaluateFetching(memberOf(copy, 'input') ?? null, environment.inLoops(loops), fetched, read));
    }
    return values;
  }
  const value = memberOf(definition, 'value');
  if (value === undefined)
    throw new TemplateError(`The template output '${name}' is not valid: it has neither 'value' nor 'copy'`);
  return await evaluateFetching(value, environment, fetched, read);
}
