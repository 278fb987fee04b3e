// `reference` and `list…`: values of resources, which are fetched between evaluations.
import { foldCase, parseResourceId, type ResourceId } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import { type Call, type Func, func } from '../expressions/environment.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { wantText } from '../expressions/values.ts';
import { noRuntime, type RuntimeFunctions } from './context.ts';
import type { Locate } from './dependencies.ts';
import type { PlannedResource } from './plan.ts';

/** Something of a resource that an expression needs. */
export type Fetch =
  | { readonly kind: 'reference'; readonly id: ResourceId; readonly apiVersion: string; readonly full: boolean }
  | {
      readonly kind: 'list';
      readonly id: ResourceId;
      readonly apiVersion: string;
      /** `listKeys`. */
      readonly action: string;
      readonly body?: Json;
    };

/** Thrown out of an evaluation that needs a value which is not there yet. */
export class Pending extends Error {
  readonly fetch: Fetch;

  constructor(fetch: Fetch) {
    super('A value has to be fetched first');
    this.name = 'Pending';
    this.fetch = fetch;
  }
}

export function fetchKey(fetch: Fetch): string {
  return fetch.kind === 'reference'
    ? `reference ${fetch.full} ${fetch.apiVersion} ${fetch.id.key}`
    : `list ${foldCase(fetch.action)} ${fetch.apiVersion} ${fetch.id.key} ${JSON.stringify(fetch.body ?? null)}`;
}

/** What was fetched, by key. */
export type Fetched = ReadonlyMap<string, Json>;

export function runtimeFunctions(
  resources: readonly PlannedResource[],
  locate: Locate,
  fetched: Fetched,
): RuntimeFunctions {
  const take = (fetch: Fetch): Json => {
    const value = fetched.get(fetchKey(fetch));
    if (value === undefined) throw new Pending(fetch);
    return value;
  };
  const planned = (name: string): PlannedResource | undefined => {
    const found = locate(name);
    return found.length === 1 ? resources[found[0] ?? -1] : undefined;
  };
  const target = (name: string, apiVersion: Json | undefined, call: Call): { id: ResourceId; apiVersion: string } => {
    const known = planned(name);
    const given = apiVersion === undefined || apiVersion === null ? undefined : wantText(apiVersion, call);
    if (known !== undefined) return { id: known.id, apiVersion: given ?? known.apiVersion };
    const parsed = parseResourceId(name);
    if (!parsed.ok || given === undefined) {
      throw new TemplateError(
        `The resource '${name.slice(0, 300)}' is not defined in the template. Please see https://aka.ms/arm-syntax for usage details`,
      );
    }
    return { id: parsed.id, apiVersion: given };
  };
  const isFull = (word: Json | undefined): boolean => typeof word === 'string' && foldCase(word) === 'full';

  const reference = func([1, 3], ([name, apiVersion, full], call) =>
    take({ kind: 'reference', ...target(wantText(name, call), apiVersion, call), full: isFull(full) }),
  );
  const references = func([1, 2], ([name, full], call) =>
    locate(wantText(name, call)).flatMap((at): Json[] => {
      const resource = resources[at];
      if (resource === undefined || !resource.wanted) return [];
      return [take({ kind: 'reference', id: resource.id, apiVersion: resource.apiVersion, full: isFull(full) })];
    }),
  );
  const info = func(1, ([name], call): JsonObject => {
    const known = planned(wantText(name, call));
    if (known === undefined)
      throw new TemplateError(`The resource '${String(name).slice(0, 300)}' is not defined in the template`);
    return { id: known.id.text, name: known.name, type: known.type, apiVersion: known.apiVersion };
  });
  const list = (): Func =>
    func([1, 3], ([name, apiVersion, body], call) => {
      const fetch = { kind: 'list', ...target(wantText(name, call), apiVersion, call), action: call.name } as const;
      return take(body === undefined || body === null ? fetch : { ...fetch, body });
    });
  return (name) => {
    if (name === 'reference') return reference;
    if (name === 'references') return references;
    if (name === 'resourceinfo') return info;
    return /^list.+$/.test(name) ? list() : noRuntime(name);
  };
}
