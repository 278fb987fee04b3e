// JSON of a template to its value: every text, every member name, and the loops of properties.
import { foldCase } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import { evaluateText } from '../expressions/evaluate.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { isArray, isObject, memberOf } from '../expressions/values.ts';
import type { TemplateEnvironment } from './context.ts';
import { limits } from './template.ts';

/** Throws TemplateError. `text` evaluates a single text; left out, the first that cannot be evaluated ends it all. */
export function evaluateTree(
  value: Json,
  environment: TemplateEnvironment,
  text: (text: string, environment: TemplateEnvironment) => Json = evaluateText,
  depth = 0,
): Json {
  environment.budget.spend(1);
  if (typeof value === 'string') return text(value, environment);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > limits.depth) throw new TemplateError('The template is nested too deep');
  if (isArray(value)) return value.map((one) => evaluateTree(one, environment, text, depth + 1));
  const members = new Map<string, Json>();
  for (const [name, member] of Object.entries(value)) {
    if (foldCase(name) === 'copy' && isPropertyCopy(member)) {
      for (const loop of member) members.set(...propertyLoop(loop, environment, text, depth));
      continue;
    }
    const key = evaluateText(name, environment);
    if (typeof key !== 'string')
      throw new TemplateError(`The name of a member, '${name.slice(0, 100)}', is not a text`);
    members.set(key, evaluateTree(member ?? null, environment, text, depth + 1));
  }
  return Object.fromEntries(members);
}

/** `copy` of properties is an array of loops; that of a resource is one object. */
function isPropertyCopy(value: Json | undefined): value is readonly JsonObject[] {
  return (
    isArray(value) &&
    value.length > 0 &&
    value.every(
      (one) => isObject(one) && typeof one.name === 'string' && one.count !== undefined && one.input !== undefined,
    )
  );
}

function propertyLoop(
  loop: JsonObject,
  environment: TemplateEnvironment,
  text: (text: string, environment: TemplateEnvironment) => Json,
  depth: number,
): [string, Json] {
  const name = evaluateText(String(loop.name), environment);
  if (typeof name !== 'string') throw new TemplateError("The 'name' of a property loop is not a text");
  const count = loopCount(loop.count, environment);
  const made: Json[] = [];
  for (let index = 0; index < count; index++) {
    const within = environment.inLoops(new Map(environment.loops).set(foldCase(name), index));
    made.push(evaluateTree(loop.input ?? null, within, text, depth + 1));
  }
  return [name, made];
}

/** How often a loop runs. Throws TemplateError. */
export function loopCount(given: Json | undefined, environment: TemplateEnvironment): number {
  const count = typeof given === 'string' ? evaluateText(given, environment) : given;
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 0 || count > limits.copies) {
    throw new TemplateError(
      `The copy count is not valid: it must be an integer from '0' to '${limits.copies}'. Please see https://aka.ms/arm-copy for usage details`,
    );
  }
  return count;
}

/** A member of a template's object that is a text, evaluated. */
export function textMember(body: JsonObject, name: string, environment: TemplateEnvironment): string | undefined {
  const given = memberOf(body, name);
  if (given === undefined || given === null) return undefined;
  const value = typeof given === 'string' ? evaluateText(given, environment) : given;
  if (typeof value !== 'string') throw new TemplateError(`The template member '${name}' is not a text`);
  return value;
}
