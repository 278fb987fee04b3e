// A deployment ready to be run, validated or compared: its template read, its parameters resolved, its resources planned.
import type { ArmError } from '../../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../../arm/resource-id.ts';
import type { CallerIdentity } from '../../kernel/provider.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import type { World } from '../../kernel/world.ts';
import { createBudget } from '../expressions/budget.ts';
import { TemplateError, validationFailed } from '../expressions/template-error.ts';
import { checkExpressions } from '../template/check-expressions.ts';
import { createContext, type TemplateContext } from '../template/context.ts';
import { createLocate, type Locate } from '../template/dependencies.ts';
import { type ParameterValue, resolveParameters } from '../template/parameters.ts';
import { type Plan, planResources } from '../template/plan.ts';
import { scopeOfDeployment } from '../template/scope.ts';
import { readTemplate } from '../template/template.ts';
import type { Mode } from './intent.ts';
import { placeOf } from './place.ts';

export interface PreparedDeployment {
  readonly id: ResourceId;
  readonly context: TemplateContext;
  readonly parameters: readonly ParameterValue[];
  readonly plan: Plan;
  readonly locate: Locate;
  readonly deployment: JsonObject;
}

export interface Asked {
  readonly template: Json;
  readonly mode: Mode;
  readonly caller: CallerIdentity;
  readonly location?: string;
  readonly templateLink?: JsonObject;
  /** As in the request, or as they were resolved before. */
  readonly parameters: { readonly given: JsonObject } | { readonly resolved: readonly ParameterValue[] };
}

/** Throws ArmError 400 `InvalidTemplate` with everything that can be told before anything is deployed. */
export async function prepareDeployment(world: World, id: ResourceId, asked: Asked): Promise<PreparedDeployment> {
  const scope = scopeOfDeployment(id);
  const place = await placeOf(world, scope, asked.caller);
  return asValidation(() => {
    const template = readTemplate(asked.template, scope);
    const deployment = deploymentValue(id, asked);
    const budget = createBudget();
    const parameters =
      'resolved' in asked.parameters
        ? asked.parameters.resolved
        : resolveParameters({
            template,
            given: asked.parameters.given,
            place,
            deployment,
            now: world.clock.now(),
            budget,
          });
    const values = new Map(parameters.map(({ name, value }) => [foldCase(name), value]));
    const context = createContext({ template, place, parameters: values, deployment, budget });
    // What was accepted before has been checked then.
    if ('given' in asked.parameters) checkExpressions(context);
    const plan = planResources(context);
    return { id, context, parameters, plan, locate: createLocate(plan.resources), deployment };
  });
}

/** What `deployment()` gives. Values of parameters are left out of it: some are secret. */
function deploymentValue(id: ResourceId, { template, mode, location, templateLink }: Asked): JsonObject {
  return {
    name: id.name,
    ...(location === undefined ? {} : { location }),
    properties: {
      ...(templateLink === undefined ? {} : { templateLink }),
      template,
      parameters: {},
      mode,
      provisioningState: 'Accepted',
    },
  };
}

function asValidation<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw asArmError(error);
  }
}

/** A mistake in a template as the error of its validation; everything else as it is. */
function asArmError(error: unknown): ArmError | unknown {
  return error instanceof TemplateError ? validationFailed(error.message) : error;
}
