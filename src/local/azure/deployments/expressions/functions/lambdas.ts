// Functions over lambdas: `map(parameters('names'), lambda('name', toUpper(lambdaVariables('name'))))`.
import { foldCase } from '../../../../../arm/resource-id.ts';
import type { Json } from '../../../kernel/record.ts';
import { type FormCall, type FunctionTable, form } from '../environment.ts';
import type { Node } from '../syntax.ts';
import { TemplateError } from '../template-error.ts';
import { isArray, wantArray, wantBoolean, wantObject, wantText } from '../values.ts';

export const lambdaFunctions: FunctionTable = {
  map: form(2, ([values, lambda], call) => {
    const body = lambdaOf(lambda, call);
    return arrayOf(values, call).map((value, index) => body(value, index));
  }),
  filter: form(2, ([values, lambda], call) => {
    const body = lambdaOf(lambda, call);
    return arrayOf(values, call).filter((value, index) => wantBoolean(body(value, index), call));
  }),
  reduce: form(3, ([values, start, lambda], call) => {
    const body = lambdaOf(lambda, call);
    let made = evaluated(start, call);
    for (const [index, value] of arrayOf(values, call).entries()) made = body(made, value, index);
    return made;
  }),
  sort: form(2, ([values, lambda], call) => {
    const before = lambdaOf(lambda, call);
    return [...arrayOf(values, call)].sort((a, b) => {
      if (wantBoolean(before(a, b), call)) return -1;
      return wantBoolean(before(b, a), call) ? 1 : 0;
    });
  }),
  toobject: form([2, 3], ([values, keyLambda, valueLambda], call) => {
    const key = lambdaOf(keyLambda, call);
    const value = valueLambda === undefined ? undefined : lambdaOf(valueLambda, call);
    return Object.fromEntries(
      arrayOf(values, call).map((one) => [wantText(key(one), call), value === undefined ? one : value(one)]),
    );
  }),
  groupby: form(2, ([values, lambda], call) => {
    const key = lambdaOf(lambda, call);
    const groups = new Map<string, Json[]>();
    for (const one of arrayOf(values, call)) {
      const name = wantText(key(one), call);
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [one]);
      else group.push(one);
    }
    return Object.fromEntries(groups);
  }),
  mapvalues: form(2, ([object, lambda], call) => {
    const body = lambdaOf(lambda, call);
    const members = Object.entries(wantObject(evaluated(object, call), call));
    return Object.fromEntries(members.map(([name, value]) => [name, body(value ?? null)]));
  }),
  lambda: form([1, 16], () => {
    throw new TemplateError("The template function 'lambda' is not expected at this location");
  }),
  lambdavariables: form(1, ([name], call) => {
    const wanted = wantText(evaluated(name, call), call);
    const value = call.environment.locals.get(foldCase(wanted));
    if (value === undefined) throw new TemplateError(`The lambda variable '${wanted}' is not found`);
    return value;
  }),
};

function evaluated(node: Node | undefined, call: FormCall): Json {
  return node === undefined ? null : call.evaluate(node);
}

function arrayOf(node: Node | undefined, call: FormCall): readonly Json[] {
  const value = evaluated(node, call);
  if (isArray(value)) call.budget.spend(value.length);
  return wantArray(value, call);
}

/** The lambda that an argument spells out, as a function. Values beyond its variables are left out. */
function lambdaOf(node: Node | undefined, call: FormCall): (...values: readonly Json[]) => Json {
  if (node?.kind !== 'call' || node.namespace !== undefined || foldCase(node.name) !== 'lambda') {
    throw new TemplateError(
      `The template language function '${call.name}' expects its last parameter to be a lambda function`,
    );
  }
  const names = node.args.slice(0, -1).map((arg) => foldCase(wantText(call.evaluate(arg), { name: 'lambda' })));
  const body = node.args.at(-1);
  return (...values) => {
    const locals = new Map(call.environment.locals);
    for (const [index, name] of names.entries()) locals.set(name, values[index] ?? null);
    call.budget.spend(1 + locals.size);
    return body === undefined ? null : call.evaluate(body, locals);
  };
}
