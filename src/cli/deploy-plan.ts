// What `aro deploy` applies: the files of deploy/azure, read and checked. Which templates make up a scope, in which order and where, is
// said in scopes.json; ids and values of an environment are in its own file.
import { readFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../azure/json.ts';
import { nearest } from '../kit/nearest.ts';
import { UsageError } from './errors.ts';

export const scopeNames = ['global', 'regional', 'management', 'classic'] as const;
export type ScopeName = (typeof scopeNames)[number];

/** A template and where it is applied. */
export interface PlanStep {
  readonly scope: ScopeName;
  readonly name: string;
  /** Of the deployment in Azure; the same whenever it is applied, so that its outputs are found again. */
  readonly deployment: string;
  readonly template: Template;
  readonly subscriptionId: string;
  /** The output that names the resource group; a template without is applied to the subscription. */
  readonly group?: string;
  /** The output that holds the address of blobs whose container `$web` shall be served as a site. */
  readonly webContainer?: string;
}

export interface Template extends JsonObject {
  readonly parameters?: { readonly [name: string]: JsonObject };
  readonly resources: readonly JsonObject[];
}

export interface Plan {
  /** What must be there already: its outputs are read, nothing is applied. */
  readonly needed: readonly PlanStep[];
  readonly steps: readonly PlanStep[];
  /** The environment's values for parameters of that name; what templates before it gave comes first. */
  readonly values: JsonObject;
  /** Values that follow from the command line and are never others. */
  readonly fixed: JsonObject;
  readonly location: string;
}

export interface PlanOptions {
  readonly scope: ScopeName;
  readonly location: string;
  /** A name of a file in deploy/azure/environments, or a path. */
  readonly environment: string;
  /** Of a management cluster: which of the region's. */
  readonly stamp: string;
  /** Instead of those of the environment, by scope. */
  readonly subscriptions: { readonly [scope in ScopeName]?: string };
}

interface Region {
  /** Part of names that must be short. */
  readonly short: string;
  readonly displayName: string;
}

interface ScopeFile {
  readonly needs: readonly ScopeName[];
  readonly steps: readonly {
    readonly name: string;
    readonly template: string;
    readonly group?: string;
    readonly subscription?: ScopeName;
    readonly webContainer?: string;
  }[];
}

interface EnvironmentFile {
  readonly subscriptions?: { readonly [scope: string]: Json };
  readonly parameters?: JsonObject;
}

const directory = fileURLToPath(new URL('../../deploy/azure/', import.meta.url));
const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const stampForm = /^[a-z0-9]{1,3}$/;

/** Throws {@link UsageError} for a location, environment or subscription that cannot be. */
export async function readPlan(options: PlanOptions): Promise<Plan> {
  const { scope, location, stamp } = options;
  const [scopes, regions, environment] = await Promise.all([
    readJson<{ readonly [name in ScopeName]: ScopeFile }>(join(directory, 'scopes.json')),
    readJson<{ readonly [location: string]: Region }>(join(directory, 'regions.json')),
    readJson<EnvironmentFile>(environmentFile(options.environment)),
  ]);
  const region = regions[location];
  if (region === undefined) {
    const meant = nearest(location, Object.keys(regions));
    throw new UsageError(`${location} is no location that is known here${meant ? ` (did you mean ${meant}?)` : ''}`);
  }
  if (!stampForm.test(stamp)) throw new UsageError(`the stamp ${stamp} must be one to three letters or digits`);
  const stepsOf = async (name: ScopeName): Promise<readonly PlanStep[]> =>
    Promise.all(
      scopes[name].steps.map(async ({ template, subscription = name, ...step }) => ({
        ...step,
        scope: name,
        deployment: deploymentName(name, location, stamp, step.name),
        template: await readJson<Template>(join(directory, template)),
        subscriptionId: subscriptionOf(subscription, environment, options),
      })),
    );
  const needed = await Promise.all(scopes[scope].needs.map(stepsOf));
  return {
    needed: needed.flat(),
    steps: await stepsOf(scope),
    values: environment.parameters ?? {},
    fixed: {
      environmentName: nameOf(options.environment),
      location,
      locationDisplayName: region.displayName,
      regionShort: region.short,
      stamp,
    },
    location,
  };
}

/** The subscriptions that an environment names: `global`, `management 1` and so on. */
export async function environmentSubscriptions(
  environment: string,
): Promise<readonly { readonly name: string; readonly id: string }[]> {
  const { subscriptions = {} } = await readJson<EnvironmentFile>(environmentFile(environment));
  return Object.entries(subscriptions).flatMap(([scope, given]) =>
    typeof given === 'string'
      ? [{ name: scope, id: given }]
      : Object.entries((given ?? {}) as JsonObject).map(([stamp, id]) => ({
          name: `${scope} ${stamp}`,
          id: String(id),
        })),
  );
}

function environmentFile(given: string): string {
  if (given.includes('/') || given.endsWith('.json')) return isAbsolute(given) ? given : resolve(given);
  return join(directory, 'environments', `${given}.json`);
}

function nameOf(environment: string): string {
  const name = environment.replace(/^.*\//, '').replace(/\.json$/, '');
  if (/^[a-z][a-z0-9]{0,7}$/.test(name)) return name;
  throw new UsageError(
    `${name} cannot name an environment: it is part of resources' names, so it has up to 8 letters and digits, all lower case`,
  );
}

function deploymentName(scope: ScopeName, location: string, stamp: string, step: string): string {
  const place = scope === 'global' ? [] : scope === 'management' ? [location, stamp] : [location];
  return ['aro', scope, ...place, step].join('-');
}

function subscriptionOf(scope: ScopeName, environment: EnvironmentFile, options: PlanOptions): string {
  const given = options.subscriptions[scope];
  const configured = environment.subscriptions?.[scope];
  const found =
    given ?? (typeof configured === 'object' ? (configured as JsonObject | null)?.[options.stamp] : configured);
  if (typeof found === 'string' && guid.test(found)) return found;
  if (found !== undefined) throw new UsageError(`the subscription ${String(found)} is no GUID`);
  const which = scope === 'management' ? `management cluster ${options.stamp}` : `scope ${scope}`;
  throw new UsageError(
    `the environment ${options.environment} has no subscription for the ${which}: give --subscription ${scope}=<id>`,
  );
}

async function readJson<T>(file: string): Promise<T> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new UsageError(`there is no file ${file}`);
    throw error;
  }
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new UsageError(`${file} is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The parameters that a template declares, with values of these names. Throws when one without a default has none. */
export function parametersOf(step: PlanStep, values: JsonObject): JsonObject {
  const given: [string, Json][] = [];
  const missing: string[] = [];
  for (const [name, declared] of Object.entries(step.template.parameters ?? {})) {
    const value = values[name];
    if (value !== undefined) given.push([name, value]);
    else if (declared.defaultValue === undefined) missing.push(name);
  }
  if (missing.length === 0) return Object.fromEntries(given);
  throw new UsageError(
    `${step.scope}/${step.name} needs values for ${missing.join(', ')}: set them in the parameters of the environment`,
  );
}

/** The namespaces of the resources in a template. */
export function namespacesOf(template: Template): readonly string[] {
  return [...new Set(template.resources.map(({ type }) => String(type).split('/', 1)[0] ?? ''))].sort();
}
