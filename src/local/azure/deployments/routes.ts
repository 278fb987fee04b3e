// Requests about deployments that need not exist, and about their operations. What knows templates is loaded with the first of them.
import { randomUUID } from 'node:crypto';
import { ArmError, notFound } from '../../../arm/errors.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { ProviderRoute, RouteRequest } from '../kernel/provider.ts';
import type { ArmResource, Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { DeploymentsOptions } from './accept.ts';
import { deploymentApiVersions } from './api-versions.ts';
import { keyOf, listSteps, type ProgressOf, readStep } from './run/progress.ts';

export function deploymentRoutes(options: DeploymentsOptions, progressOf: ProgressOf): readonly ProviderRoute[] {
  const apiVersions = deploymentApiVersions;
  const deployment = async (request: RouteRequest): Promise<{ id: ResourceId; record: ResourceRecord }> => {
    const id = idOf(request);
    const document = await request.world.resources.read(id.key);
    if (document === undefined) {
      throw new ArmError(404, 'DeploymentNotFound', `Deployment '${id.name}' could not be found.`);
    }
    return { id, record: document.body };
  };
  return [
    {
      method: 'GET',
      scope: 'extension',
      path: 'deployments',
      apiVersions,
      action: 'Microsoft.Resources/deployments/read',
      run: listDeployments,
    },
    {
      method: 'POST',
      scope: 'extension',
      path: 'deployments/{name}/validate',
      apiVersions,
      action: 'Microsoft.Resources/deployments/validate/action',
      run: (request) => validate(request, options),
    },
    {
      method: 'POST',
      scope: 'extension',
      path: 'deployments/{name}/whatIf',
      apiVersions,
      action: 'Microsoft.Resources/deployments/whatIf/action',
      async run({ world, caller, body = {}, ...rest }) {
        const id = idOf(rest);
        const { prepareRequest } = await import('./accept.ts');
        const { readRequest } = await import('./request.ts');
        const { whatIf, whatIfAnswer } = await import('./what-if.ts');
        const asked = await readRequest(world, id, body, caller, options);
        return whatIfAnswer(randomUUID(), async () =>
          whatIf({
            world,
            caller,
            progress: await progressOf(world),
            prepared: await prepareRequest(world, id, asked, caller),
            mode: asked.mode,
            idsOnly: isIdsOnly(body),
          }),
        );
      },
    },
    {
      method: 'GET',
      scope: 'extension',
      path: 'deployments/{name}/operations',
      apiVersions,
      action: 'Microsoft.Resources/deployments/operations/read',
      async run(request) {
        const { shownOperation } = await import('./show.ts');
        const { id, record } = await deployment(request);
        const steps = await listSteps(await progressOf(request.world), keyOf(id, record));
        return { value: steps.map((step) => shownOperation(id, step)) };
      },
    },
    {
      method: 'GET',
      scope: 'extension',
      path: 'deployments/{name}/operations/{operationId}',
      apiVersions,
      action: 'Microsoft.Resources/deployments/operations/read',
      async run(request) {
        const { shownOperation } = await import('./show.ts');
        const { id, record } = await deployment(request);
        const wanted = (request.parameters.operationId ?? '').toUpperCase();
        const step = /^[0-9A-F]{16}$/.test(wanted)
          ? await readStep(await progressOf(request.world), keyOf(id, record), wanted)
          : undefined;
        if (step === undefined) {
          throw new ArmError(
            404,
            'DeploymentOperationNotFound',
            `The operation '${wanted.slice(0, 64)}' of deployment '${id.name}' could not be found.`,
          );
        }
        return shownOperation(id, step);
      },
    },
    {
      method: 'POST',
      scope: 'tenant',
      path: 'calculateTemplateHash',
      apiVersions,
      action: 'Microsoft.Resources/calculateTemplateHash/action',
      async run({ body = {} }) {
        const { templateHash } = await import('./show.ts');
        return { minifiedTemplate: JSON.stringify(body), templateHash: templateHash(body) };
      },
    },
  ];
}

/** Those of the scope itself, not of the groups below it; newest first. */
async function listDeployments({ world, on, query, apiVersion }: RouteRequest): Promise<Json> {
  const { resources } = world;
  if (on?.resourceGroup !== undefined && (await resources.read(on.key)) === undefined) throw notFound(on);
  const wanted = /^\s*provisioningState\s+eq\s+'([A-Za-z]{1,32})'\s*$/i.exec(query.$filter ?? '')?.[1];
  if (wanted === undefined && (query.$filter ?? '').trim() !== '') {
    throw new ArmError(
      400,
      'InvalidFilterInQueryString',
      "Deployments are filtered by `provisioningState eq '<state>'` alone.",
    );
  }
  const top = query.$top === undefined ? Number.POSITIVE_INFINITY : Number(query.$top);
  if (Number.isNaN(top) || top < 1) throw new ArmError(400, 'InvalidParameter', 'The $top is not a positive number.');
  const shown: ArmResource[] = [];
  for (const record of await resources.list({ parent: on?.key ?? '/', type: 'Microsoft.Resources/deployments' })) {
    shown.push(await resources.view(record, apiVersion));
  }
  const stamp = ({ properties }: ArmResource): string => String(properties?.timestamp);
  return {
    value: shown
      .filter(
        ({ properties }) =>
          wanted === undefined || foldCase(String(properties?.provisioningState)) === foldCase(wanted),
      )
      .sort((a, b) => (stamp(a) > stamp(b) ? -1 : 1))
      .slice(0, top),
  };
}

function isIdsOnly(body: JsonObject): boolean {
  const settings = (body.properties as JsonObject | undefined)?.whatIfSettings as JsonObject | undefined;
  return String(settings?.resultFormat ?? '').toLowerCase() === 'resourceidonly';
}

/** The deployment that a route is about, whether it exists or not. Throws 404 for what is no id. */
function idOf({ on, parameters }: Pick<RouteRequest, 'on' | 'parameters'>): ResourceId {
  const parsed = parseResourceId(
    `${on?.text ?? ''}/providers/Microsoft.Resources/deployments/${parameters.name ?? ''}`,
  );
  if (!parsed.ok) throw new ArmError(400, 'InvalidResourceName', 'The name of the deployment is not valid.');
  if (on !== undefined && on.types.length > 0 && on.type.toLowerCase() !== 'microsoft.management/managementgroups')
    throw notFound(parsed.id);
  return parsed.id;
}

async function validate(
  { world, caller, body = {}, ...rest }: RouteRequest,
  options: DeploymentsOptions,
): Promise<Json> {
  const id = idOf(rest);
  const { prepareRequest } = await import('./accept.ts');
  const { checkBefore } = await import('./preflight.ts');
  const { readRequest } = await import('./request.ts');
  const { acceptedProperties } = await import('./show.ts');
  const request = await readRequest(world, id, body, caller, options);
  const prepared = await prepareRequest(world, id, request, caller);
  const correlationId = randomUUID();
  const resources = await checkBefore(world, prepared, caller, options.preflight, correlationId);
  return {
    id: id.text,
    name: id.name,
    type: 'Microsoft.Resources/deployments',
    ...(request.location === undefined ? {} : { location: request.location }),
    properties: {
      ...acceptedProperties(prepared, request, correlationId, world.clock.now()),
      provisioningState: 'Succeeded',
      validatedResources: resources.map((resource) => ({ id: resource.id.text })),
    },
  };
}
