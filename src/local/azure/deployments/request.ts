// The body of a deployment request: template, parameters, mode, and where they come from.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../arm/resource-id.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import type { Json, JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { isObject, memberOf } from './expressions/values.ts';
import type { Mode } from './run/intent.ts';
import { scopeOfDeployment } from './template/scope.ts';
import { limits } from './template/template.ts';

/** How deployments reach what is outside of the template. What is left out is refused in requests that need it. */
export interface Reach {
  /** The JSON at an address of this cloud. Undefined: the address is none of this cloud's, or nothing is there. */
  readTemplate?(world: World, uri: URL, caller: CallerIdentity): Promise<Json | undefined>;
  /** A secret of a vault that allows templates to use it. Undefined when there is none. */
  readSecret?(
    world: World,
    secret: { readonly vaultId: string; readonly name: string; readonly version?: string },
    caller: CallerIdentity,
  ): Promise<string | undefined>;
}

export interface DeploymentRequest {
  readonly template: Json;
  readonly templateLink?: JsonObject;
  readonly given: JsonObject;
  readonly mode: Mode;
  readonly location?: string;
  readonly debugSetting?: JsonObject;
}

/** Reads a request. Throws ArmError. */
export async function readRequest(
  world: World,
  id: ResourceId,
  body: JsonObject,
  caller: CallerIdentity,
  reach: Reach,
): Promise<DeploymentRequest> {
  const properties = body.properties;
  if (!isObject(properties)) throw invalid("the required property 'properties' is missing or not an object");
  const mode = modeOf(properties, id);
  const location = placeOfDeployment(body, id);
  const link = memberOf(properties, 'templateLink');
  const inline = memberOf(properties, 'template');
  if ((inline === undefined) === (link === undefined)) {
    throw new ArmError(
      400,
      'InvalidTemplate',
      "Unable to process template: exactly one of 'template' and 'templateLink' is expected in the properties of the deployment.",
    );
  }
  const template = inline ?? (await linked(world, link, 'template', caller, reach));
  if (JSON.stringify(template).length > limits.templateBytes) {
    throw new ArmError(
      400,
      'InvalidTemplate',
      `Deployment template validation failed: 'The template size limit of '${limits.templateBytes}' bytes is exceeded.'.`,
    );
  }
  const parametersLink = memberOf(properties, 'parametersLink');
  const parametersFile =
    parametersLink === undefined ? undefined : await linked(world, parametersLink, 'parameters', caller, reach);
  const inFile = isObject(parametersFile) ? memberOf(parametersFile, 'parameters') : undefined;
  const parameters = inFile ?? memberOf(properties, 'parameters') ?? {};
  if (!isObject(parameters)) throw invalid("the property 'parameters' is not an object");
  const debugSetting = memberOf(properties, 'debugSetting');
  return {
    template,
    given: await withSecrets(world, parameters, caller, reach),
    mode,
    ...(location === undefined ? {} : { location }),
    ...(isObject(link) ? { templateLink: withoutQuery(link) } : {}),
    ...(isObject(debugSetting) ? { debugSetting } : {}),
  };
}

/** What stands after the path of a link gives access to it: it is not kept. */
function withoutQuery(link: JsonObject): JsonObject {
  const { uri, queryString: _, ...rest } = link;
  return typeof uri === 'string' ? { uri: uri.replace(/[?#].*$/s, ''), ...rest } : rest;
}

function invalid(what: string): ArmError {
  return new ArmError(
    400,
    'InvalidRequestContent',
    `The request content was invalid and could not be deserialized: '${what}'.`,
  );
}

function modeOf(properties: JsonObject, id: ResourceId): Mode {
  const given = memberOf(properties, 'mode') ?? 'Incremental';
  const folded = typeof given === 'string' ? foldCase(given) : '';
  if (folded === 'incremental') return 'Incremental';
  if (folded !== 'complete') throw invalid(`the deployment mode is 'Incremental' or 'Complete'`);
  if (scopeOfDeployment(id).kind !== 'resourceGroup') {
    throw new ArmError(
      400,
      'InvalidDeploymentMode',
      "The deployment mode 'Complete' is not supported at this scope: it is one of resource groups.",
    );
  }
  return 'Complete';
}

/** Deployments to resource groups have no location, all others must have one. */
function placeOfDeployment(body: JsonObject, id: ResourceId): string | undefined {
  const given = body.location;
  if (scopeOfDeployment(id).kind === 'resourceGroup') {
    if (given === undefined || given === null) return undefined;
    throw new ArmError(
      400,
      'InvalidDeployment',
      `The 'location' property is not allowed for '${id.name}' at resource group scope. Please see https://aka.ms/deploy-to-subscription for usage details.`,
    );
  }
  if (typeof given !== 'string' || given === '') {
    throw new ArmError(
      400,
      'LocationRequired',
      `The 'location' property must be specified for '${id.name}'. Please see https://aka.ms/deploy-to-subscription for usage details.`,
    );
  }
  return given.replaceAll(' ', '').toLowerCase();
}

async function linked(
  world: World,
  link: Json | undefined,
  what: string,
  caller: CallerIdentity,
  reach: Reach,
): Promise<Json> {
  const uri = isObject(link) ? memberOf(link, 'uri') : undefined;
  const url = typeof uri === 'string' && URL.canParse(uri) ? new URL(uri) : undefined;
  const isHere =
    url?.protocol === 'https:' &&
    (url.origin === world.cloud.origin || url.hostname.endsWith(`.${world.cloud.suffix}`));
  const found = isHere && url !== undefined ? await reach.readTemplate?.(world, url, caller) : undefined;
  if (found === undefined) {
    const shown = url === undefined ? '' : ` from '${url.origin}${url.pathname}'`;
    throw new ArmError(
      400,
      'InvalidContentLink',
      `Unable to download deployment ${what} content${shown}. Only addresses of this cloud, by https, can be linked to.`,
    );
  }
  return found;
}

/** Parameters that name a secret of a vault get its value. */
async function withSecrets(
  world: World,
  parameters: JsonObject,
  caller: CallerIdentity,
  reach: Reach,
): Promise<JsonObject> {
  const made: [string, Json][] = [];
  for (const [name, entry] of Object.entries(parameters)) {
    const reference = isObject(entry) ? memberOf(entry, 'reference') : undefined;
    made.push([
      name,
      isObject(reference) ? { value: await secretOf(world, name, reference, caller, reach) } : (entry ?? null),
    ]);
  }
  return Object.fromEntries(made);
}

async function secretOf(
  world: World,
  parameter: string,
  reference: JsonObject,
  caller: CallerIdentity,
  reach: Reach,
): Promise<string> {
  const vault = memberOf(reference, 'keyVault');
  const vaultId = isObject(vault) ? memberOf(vault, 'id') : undefined;
  const name = memberOf(reference, 'secretName');
  const version = memberOf(reference, 'secretVersion');
  if (typeof vaultId !== 'string' || typeof name !== 'string') {
    throw invalid(`the reference of the parameter '${parameter}' must have 'keyVault.id' and 'secretName'`);
  }
  await world.access.demand(caller, 'Microsoft.KeyVault/vaults/deploy/action', vaultId);
  const secret = { vaultId, name, ...(typeof version === 'string' ? { version } : {}) };
  const value = await reach.readSecret?.(world, secret, caller);
  if (value === undefined) {
    throw new ArmError(
      400,
      'KeyVaultParameterReferenceNotFound',
      `The secret of KeyVault parameter '${parameter}' cannot be retrieved. Please check that the vault, with enabledForTemplateDeployment, and the secret '${name.slice(0, 127)}' exist.`,
    );
  }
  return value;
}
