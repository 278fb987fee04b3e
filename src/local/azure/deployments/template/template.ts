// A deployment template as it is sent: checked for its form and limits, its parts named. Nothing is evaluated here.
import { foldCase } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { isArray, isObject, memberOf } from '../expressions/values.ts';
import type { DeploymentScope } from './scope.ts';

export const limits = {
  templateBytes: 4 * 1024 * 1024,
  parameters: 256,
  variables: 512,
  resources: 800,
  outputs: 64,
  copies: 800,
  depth: 64,
} as const;

export interface Template {
  readonly schemaKind: DeploymentScope['kind'];
  readonly contentVersion: string;
  /** Symbolic names: resources are an object. */
  readonly symbolic: boolean;
  readonly parameters: JsonObject;
  readonly variables: JsonObject;
  readonly functions: readonly JsonObject[];
  readonly resources: readonly TemplateResource[];
  readonly outputs: JsonObject;
  /** User-defined types, by name. */
  readonly definitions: JsonObject;
}

export interface TemplateResource {
  readonly symbol?: string;
  readonly body: JsonObject;
}

const schemaKinds: { readonly [file: string]: DeploymentScope['kind'] } = {
  'deploymenttemplate.json': 'resourceGroup',
  'subscriptiondeploymenttemplate.json': 'subscription',
  'managementgroupdeploymenttemplate.json': 'managementGroup',
  'tenantdeploymenttemplate.json': 'tenant',
};

const schemaVersions = ['2014-04-01-preview', '2015-01-01', '2018-05-01', '2019-04-01', '2019-08-01'];

/** Reads a template for a deployment to a scope. Throws TemplateError. */
export function readTemplate(given: Json | undefined, scope: DeploymentScope): Template {
  if (!isObject(given)) throw new TemplateError('The template is not a JSON object');
  const schemaKind = schemaKindOf(memberOf(given, '$schema'), scope);
  const contentVersion = memberOf(given, 'contentVersion');
  if (typeof contentVersion !== 'string') {
    throw new TemplateError("Required property 'contentVersion' not found in the template");
  }
  if (!/^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$/.test(contentVersion)) {
    throw new TemplateError(
      `The template content version '${contentVersion.slice(0, 64)}' is not valid. It must have the form '1.0.0.0'`,
    );
  }
  const language = memberOf(given, 'languageVersion');
  if (language !== undefined && language !== '1.0' && !/^([12]\.[0-9]+-experimental|2\.0)$/.test(String(language))) {
    throw new TemplateError(
      `The template language version '${String(language).slice(0, 64)}' is not supported. Supported versions are '1.0,2.0'`,
    );
  }
  const resources = memberOf(given, 'resources');
  if (!isArray(resources) && !isObject(resources))
    throw new TemplateError("Required property 'resources' not found in the template");
  const functions = memberOf(given, 'functions') ?? [];
  if (!isArray(functions) || !functions.every(isObject))
    throw new TemplateError("The template member 'functions' is not an array of objects");
  return {
    schemaKind,
    contentVersion,
    symbolic: isObject(resources),
    parameters: section(given, 'parameters', limits.parameters),
    variables: section(given, 'variables', limits.variables),
    functions,
    resources: readResources(resources, 0),
    outputs: section(given, 'outputs', limits.outputs),
    definitions: section(given, 'definitions', limits.variables),
  };
}

function schemaKindOf(schema: Json | undefined, scope: DeploymentScope): DeploymentScope['kind'] {
  if (typeof schema !== 'string') throw new TemplateError("Required property '$schema' not found in the template");
  const found = /^https?:\/\/schema\.management\.azure\.com\/schemas\/([^/#]{1,40})\/([^/#]{1,60})#?$/i.exec(schema);
  const kind = schemaKinds[foldCase(found?.[2] ?? '')];
  if (kind === undefined || !schemaVersions.includes(foldCase(found?.[1] ?? '')) || kind !== scope.kind) {
    const names = Object.entries(schemaKinds).filter(([, one]) => one === scope.kind);
    throw new TemplateError(
      `The template schema '${schema.slice(0, 200)}' is not supported for a deployment at this scope. Supported versions are '${schemaVersions.join(',')}' of '${names[0]?.[0] ?? ''}'. Please see https://aka.ms/arm-template for usage details`,
    );
  }
  return kind;
}

function section(template: JsonObject, name: string, most: number): JsonObject {
  const found = memberOf(template, name) ?? {};
  if (!isObject(found)) throw new TemplateError(`The template member '${name}' is not an object`);
  const names = Object.keys(found);
  if (names.length > most) {
    throw new TemplateError(
      `The template ${name} limit exceeded. Limit: '${most}' and actual count: '${names.length}'. Please see https://aka.ms/arm-template for usage details`,
    );
  }
  const seen = new Set<string>();
  for (const one of names) {
    const folded = foldCase(one);
    if (seen.has(folded))
      throw new TemplateError(
        `The template ${name} '${one}' is defined more than once; names are compared in any case`,
      );
    seen.add(folded);
  }
  return found;
}

/** The resources of a template or, inside of a resource, its children. */
export function readResources(given: Json | undefined, depth: number): readonly TemplateResource[] {
  if (given === undefined || given === null) return [];
  if (depth > 8) throw new TemplateError('The resources of the template are nested too deep');
  const entries: readonly (readonly [string | undefined, Json | undefined])[] = isArray(given)
    ? given.map((body) => [undefined, body] as const)
    : isObject(given)
      ? Object.entries(given)
      : [[undefined, given]];
  if (entries.length > limits.resources) throw tooManyResources(entries.length);
  return entries.map(([symbol, body]) => {
    if (!isObject(body)) throw new TemplateError('A resource of the template is not an object');
    return { body, ...(symbol === undefined ? {} : { symbol }) };
  });
}

export function tooManyResources(count: number): TemplateError {
  return new TemplateError(
    `The number of template resources limit exceeded. Limit: '${limits.resources}' and actual: '${count}'. Please see https://aka.ms/arm-template for usage details`,
  );
}
