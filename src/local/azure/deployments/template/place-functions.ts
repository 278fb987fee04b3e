// Functions that tell of the place of a deployment, and ids in it.
import { foldCase, isGuid } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import { type Call, type FunctionTable, func } from '../expressions/environment.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { madeText, wantInteger, wantText } from '../expressions/values.ts';
import type { Place } from './context.ts';
import { idBelow, pairedPath } from './resource-ids.ts';
import { scopeText } from './scope.ts';

export function placeFunctions(place: Place, deployment: JsonObject): FunctionTable {
  const { scope } = place;
  return {
    subscription: told('subscription', place.subscription),
    resourcegroup: told('resourceGroup', place.resourceGroup),
    managementgroup: told('managementGroup', place.managementGroup),
    tenant: func(0, () => place.tenant),
    deployer: func(0, () => place.deployer),
    environment: func(0, () => place.environment),
    deployment: func(0, () => deployment),
    resourceid: func([2, 64], (args, call) => {
      const { before, type, names } = typeAndNames(args, call);
      const group = before.findLast((one) => !isGuid(one));
      const subscription = before.find(isGuid);
      if (scope.kind === 'tenant' || scope.kind === 'managementGroup') {
        if (before.length === 0) return madeText(idBelow('', type, names), call.budget);
        return madeText(idBelow(below(subscription, group), type, names), call.budget);
      }
      const inGroup =
        group ?? (subscription === undefined && scope.kind === 'resourceGroup' ? scope.resourceGroup : undefined);
      return madeText(idBelow(below(subscription ?? scope.subscriptionId, inGroup), type, names), call.budget);
    }),
    subscriptionresourceid: func([2, 64], (args, call) => {
      const { before, type, names } = typeAndNames(args, call);
      const own = scope.kind === 'subscription' || scope.kind === 'resourceGroup' ? scope.subscriptionId : undefined;
      const subscription = before[0] ?? own;
      if (subscription === undefined) throw notAtScope('subscriptionResourceId');
      return madeText(idBelow(`/subscriptions/${subscription}`, type, names), call.budget);
    }),
    tenantresourceid: func([2, 64], (args, call) => {
      const { type, names } = typeAndNames(args, call);
      return madeText(idBelow('', type, names), call.budget);
    }),
    managementgroupresourceid: func([2, 64], (args, call) => {
      const { before, type, names } = typeAndNames(args, call);
      const group = before[0] ?? (scope.kind === 'managementGroup' ? scope.managementGroup : undefined);
      if (group === undefined) throw notAtScope('managementGroupResourceId');
      return madeText(
        `/providers/Microsoft.Management/managementGroups/${group}/providers/${pairedPath(type, names)}`,
        call.budget,
      );
    }),
    extensionresourceid: func([3, 64], ([on, type, ...names], call) => {
      const texts = names.map((name) => wantText(name, call));
      return madeText(
        `${wantText(on, call).replace(/\/+$/, '')}/providers/${pairedPath(wantText(type, call), texts)}`,
        call.budget,
      );
    }),
    // Azure advises against it, since its answer changes with time; older templates have it.
    providers: func([1, 2], ([namespace, type], call) => {
      const name = wantText(namespace, call);
      const types = place.typesOf(name);
      if (types === undefined) throw unknownProvider(name);
      if (type === undefined || type === null) return { namespace: name, resourceTypes: types };
      const wanted = foldCase(wantText(type, call));
      const found = types.find(({ resourceType }) => foldCase(String(resourceType)) === wanted);
      if (found === undefined) throw unknownProvider(`${name}/${wantText(type, call)}`);
      return found;
    }),
    pickzones: func([3, 5], ([, , location, count, offset], call) => {
      const name = wantText(location, call).replaceAll(' ', '').toLowerCase();
      if (!place.hasZones(name)) return [];
      const first = offset === undefined ? 0 : wantInteger(offset, call);
      const number = count === undefined ? 1 : wantInteger(count, call);
      const zones = ['1', '2', '3'];
      if (first < 0 || number < 0 || first + number > zones.length) {
        throw new TemplateError("The template function 'pickZones' asks for more zones than the location has");
      }
      return zones.slice(first, first + number);
    }),
  };
  function told(name: string, value: JsonObject | undefined) {
    return func(0, () => {
      if (value === undefined) throw notAtScope(name);
      return value;
    });
  }
  function below(subscription: string | undefined, group: string | undefined): string {
    if (subscription === undefined) return scopeText(scope);
    return group === undefined
      ? `/subscriptions/${subscription}`
      : `/subscriptions/${subscription}/resourceGroups/${group}`;
  }
}

function unknownProvider(name: string): TemplateError {
  return new TemplateError(
    `The resource provider or type '${name.slice(0, 200)}' is not found. Please see https://aka.ms/arm-functions for usage details`,
  );
}

function notAtScope(name: string): TemplateError {
  return new TemplateError(
    `The template function '${name}' is not expected at this location: the deployment is at another scope. Please see https://aka.ms/arm-functions for usage details`,
  );
}

/** The arguments before the type (subscription, group), the type, and the names after it. */
function typeAndNames(args: readonly Json[], call: Call): { before: string[]; type: string; names: string[] } {
  const texts = args.map((arg) => wantText(arg, call));
  const at = texts.findIndex((text) => text.includes('/') && (text.split('/')[0] ?? '').includes('.'));
  if (at === -1 || at > 2) {
    throw new TemplateError(
      `Unable to evaluate template language function '${call.name}': function requires exactly one multi-segmented argument which must be resource type including resource provider namespace. Please see https://aka.ms/arm-functions-resource#resourceid for usage details`,
    );
  }
  const type = texts[at] ?? '';
  const names = texts.slice(at + 1);
  // A name of several segments counts as that many.
  const flat = names.length === 1 && type.split('/').length > 2 ? (names[0] ?? '').split('/') : names;
  return { before: texts.slice(0, at), type, names: flat };
}
