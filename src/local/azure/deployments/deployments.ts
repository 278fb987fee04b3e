// Microsoft.Resources/deployments: templates deployed to resource groups, subscriptions, management groups and the tenant.
//
//   expressions/  the language in square brackets
//   template/     a template read, planned and evaluated; knows nothing of the cloud
//   run/          a deployment carried out and recorded, step by step
//
// To the kernel a deployment is a resource whose effect is to deploy: its operation is what clients poll, and what is taken up again
// after the process was killed.
import { randomUUID } from 'node:crypto';
import { ArmError, notFound } from '../../../arm/errors.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type {
  ActionRequest,
  CallerIdentity,
  Prepared,
  PrepareRequest,
  Provider,
  ProviderRoute,
  ResourceType,
  RouteRequest,
} from '../kernel/provider.ts';
import type { Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { checkBefore, type Preflight } from './preflight.ts';
import { type DeploymentRequest, type Reach, readRequest } from './request.ts';
import { execute } from './run/execute.ts';
import { openIntent, sealIntent } from './run/intent.ts';
import { createNesting, type Nested, type Nesting } from './run/nesting.ts';
import { type PreparedDeployment, prepareDeployment } from './run/prepared.ts';
import {
  changeRun,
  forgetRun,
  listSteps,
  openProgress,
  type Progress,
  type RunKey,
  readRun,
  readStep,
  runKey,
} from './run/progress.ts';
import { acceptedProperties, shownDeployment, shownOperation, templateHash } from './show.ts';
import { isInner } from './template/dependencies.ts';
import { deploymentType } from './template/resource-body.ts';
import { whatIf, whatIfAnswer } from './what-if.ts';

export interface DeploymentsOptions extends Reach {
  /** Asks resource providers about the resources of a deployment. */
  readonly preflight?: Preflight;
  /** Resources that a deployment has at most together with all that is nested in it. */
  readonly nestedResourcesMax?: number;
}

/** Newest first. */
export const deploymentApiVersions = [
  '2025-04-01',
  '2025-03-01',
  '2024-11-01',
  '2024-07-01',
  '2024-03-01',
  '2023-07-01',
  '2022-12-01',
  '2022-09-01',
  '2022-06-01',
  '2022-05-01',
  '2022-01-01',
  '2021-04-01',
  '2021-01-01',
  '2020-10-01',
  '2020-08-01',
  '2020-06-01',
  '2020-05-01',
  '2019-10-01',
  '2019-09-01',
  '2019-08-01',
  '2019-07-01',
  '2019-06-01',
  '2019-05-10',
  '2019-05-01',
  '2019-03-01',
  '2018-11-01',
  '2018-09-01',
  '2018-08-01',
  '2018-07-01',
  '2018-06-01',
  '2018-05-01',
  '2018-02-01',
  '2018-01-01',
  '2017-08-01',
  '2017-06-01',
  '2017-05-10',
  '2017-05-01',
  '2017-03-01',
  '2016-09-01',
  '2016-07-01',
  '2016-06-01',
  '2016-02-01',
  '2015-11-01',
  '2015-01-01',
] as const;

/** The part of Microsoft.Resources that is about deployments. */
export function deploymentsProvider(options: DeploymentsOptions = {}): Provider {
  /** Runs that were asked to stop. */
  const cancelled = new Set<string>();
  const nesting = createNesting(options.nestedResourcesMax);
  const progressOf = progressReader();

  const type: ResourceType = {
    type: 'deployments',
    apiVersions: deploymentApiVersions,
    scope: 'extension',
    location: 'none',
    name: {
      form: /^[\p{L}\p{N}_.()-]{1,64}$/u,
      rule: 'The name of a deployment has 1 to 64 letters, digits, hyphens, underscores, full stops and parentheses.',
    },
    asynchrony: { create: 'operation', update: 'operation', delete: 'operation', headers: 'Azure-AsyncOperation' },
    etags: false,
    busy: ({ resource }) =>
      new ArmError(
        409,
        'DeploymentActive',
        `Unable to edit or replace deployment '${resource.name}': previous deployment from '${String(resource.properties?.timestamp)}' is still active. Please see https://aka.ms/arm-deploy for usage details.`,
      ),
    prepare: (request) => prepare(request, options, nesting.of(request.id.key), nesting),
    async effect(world, { kind, id, record }) {
      const key = keyOf(id, record);
      const progress = await progressOf(world);
      if (kind === 'delete') {
        await forgetRun(progress, key);
        return undefined;
      }
      if (record.secrets?.intent === undefined) return undefined;
      const intent = await openIntent(record.secrets.intent);
      if (intent.previous !== undefined) await forgetRun(progress, runKey(id, intent.previous));
      try {
        await execute({ world, progress, id, key, intent, isCancelled: () => cancelled.has(key.run), nesting });
      } finally {
        cancelled.delete(key.run);
        if (intent.nested === undefined) nesting.ended(key.run);
      }
      return undefined;
    },
    async show(world, record) {
      const parsed = parseResourceId(record.resource.id);
      const run = parsed.ok ? await readRun(await progressOf(world), keyOf(parsed.id, record)) : undefined;
      return shownDeployment(record, run);
    },
    actions: {
      cancel: { run: (request) => cancel(request, progressOf, cancelled) },
      exporttemplate: {
        async run({ id, record }) {
          const sealed = record.secrets?.intent;
          if (sealed === undefined) return { template: {} };
          const { template, closed } = await openIntent(sealed);
          if (closed) {
            throw new ArmError(
              409,
              'DeploymentTemplateNotAvailable',
              `The template of the deployment '${id.name}' was evaluated within another one and may hold secret values of it. Export the template of that deployment.`,
            );
          }
          return { template };
        },
      },
    },
  };
  return {
    namespace: 'Microsoft.Resources',
    alwaysRegistered: true,
    types: [type],
    routes: routes(options, progressOf),
  };
}

/** One container for each world; opened when it is first asked for. */
function progressReader(): (world: World) => Promise<Progress> {
  const opened = new WeakMap<World['store'], Promise<Progress>>();
  return ({ store }) => {
    const known = opened.get(store) ?? openProgress(store);
    opened.set(store, known);
    return known;
  };
}

function keyOf(id: ResourceId, { resource }: ResourceRecord): RunKey {
  const { correlationId } = resource.properties ?? {};
  return runKey(id, typeof correlationId === 'string' ? correlationId : '');
}

/** Everything that can be wrong is told before the deployment is accepted. */
async function prepare(
  { world, id, body, caller, current }: PrepareRequest,
  options: DeploymentsOptions,
  nested: Nested | undefined,
  nesting: Nesting,
): Promise<Prepared> {
  const request = await readRequest(world, id, body, caller, options);
  const prepared = await prepareRequest(world, id, request, caller);
  if (prepared.plan.resources.some((resource) => resource.id.key === id.key)) {
    throw new ArmError(
      400,
      'InvalidTemplate',
      `Deployment template validation failed: 'The deployment '${id.name}' cannot deploy itself.'.`,
    );
  }
  if (nested !== undefined) nesting.count(nested.root, prepared.plan.resources.length);
  const correlationId = randomUUID();
  await checkBefore(world, prepared, caller, options.preflight, correlationId);
  const { template, mode, location, templateLink } = request;
  const there = current?.resource.location;
  if (there !== undefined && there !== location) {
    throw new ArmError(
      409,
      'InvalidDeploymentLocation',
      `Invalid deployment location '${location ?? ''}'. The deployment '${id.name}' already exists in location '${there}'.`,
    );
  }
  const previous = current?.resource.properties?.correlationId;
  const intent = {
    template,
    parameters: prepared.parameters,
    mode,
    caller,
    ...(location === undefined ? {} : { location }),
    ...(templateLink === undefined ? {} : { templateLink }),
    ...(nested === undefined ? {} : { nested }),
    ...(nested === undefined || isInner(body.properties) ? {} : { closed: true as const }),
    ...(typeof previous === 'string' ? { previous } : {}),
  };
  const tags = body.tags as { readonly [name: string]: string } | undefined;
  return {
    resource: {
      ...(location === undefined ? {} : { location }),
      ...(tags === undefined ? {} : { tags }),
      properties: acceptedProperties(prepared, request, correlationId, world.clock.now()),
    },
    secrets: { intent: await sealIntent(intent) },
    references: {},
  };
}

function prepareRequest(
  world: World,
  id: ResourceId,
  request: DeploymentRequest,
  caller: CallerIdentity,
): Promise<PreparedDeployment> {
  return prepareDeployment(world, id, { ...request, caller, parameters: { given: request.given } });
}

async function cancel(
  { world, id, record }: Pick<ActionRequest, 'world' | 'id' | 'record'>,
  progressOf: (world: World) => Promise<Progress>,
  cancelled: Set<string>,
): Promise<undefined> {
  const key = keyOf(id, record);
  const progress = await progressOf(world);
  const run = await readRun(progress, key);
  if (record.operation === undefined || run?.state !== 'Running') {
    const state = String(record.resource.properties?.provisioningState ?? 'Succeeded');
    throw new ArmError(
      409,
      'DeploymentCannotBeCancelled',
      `The deployment '${id.name}' cannot be cancelled because it is not active; its provisioning state is '${run?.state ?? state}'.`,
    );
  }
  cancelled.add(key.run);
  await changeRun(progress, key, (body) => (body.state === 'Running' ? { ...body, cancel: true } : undefined));
  for (const { state, target } of await listSteps(progress, key)) {
    if (state !== 'Running' || target === undefined || foldCase(target.type) !== deploymentType) continue;
    const parsed = parseResourceId(target.id);
    const inner = parsed.ok ? (await world.resources.read(parsed.id.key))?.body : undefined;
    if (!parsed.ok || inner?.operation === undefined) continue;
    try {
      await cancel({ world, id: parsed.id, record: inner }, progressOf, cancelled);
    } catch (error) {
      // It ended meanwhile.
      if (!(error instanceof ArmError)) throw error;
    }
  }
}

function routes(
  options: DeploymentsOptions,
  progressOf: (world: World) => Promise<Progress>,
): readonly ProviderRoute[] {
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
      run: async ({ body = {} }) => ({ minifiedTemplate: JSON.stringify(body), templateHash: templateHash(body) }),
    },
  ];
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
