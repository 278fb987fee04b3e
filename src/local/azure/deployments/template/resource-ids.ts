// Ids from types and names, as the functions and the resources of templates spell them.
import { foldCase } from '../../../../arm/resource-id.ts';
import { TemplateError } from '../expressions/template-error.ts';

/** `Microsoft.Network/virtualNetworks/subnets` and `['net', 'a']` to `Microsoft.Network/virtualNetworks/net/subnets/a`. */
export function pairedPath(type: string, names: readonly string[]): string {
  const [namespace, ...types] = type.split('/');
  if (namespace === undefined || types.length === 0 || !namespace.includes('.')) {
    throw new TemplateError(
      `Unable to evaluate template language function 'resourceId': the type '${type}' requires its resource type to be fully qualified. Please see https://aka.ms/arm-functions-resource#resourceid for usage details`,
    );
  }
  if (types.length !== names.length) {
    throw new TemplateError(
      `Unable to evaluate template language function 'resourceId': the type '${type}' requires '${types.length}' resource name argument(s). Please see https://aka.ms/arm-functions-resource#resourceid for usage details`,
    );
  }
  return `${namespace}/${types.map((segment, index) => `${segment}/${names[index]}`).join('/')}`;
}

/** The id of a resource below a scope's text. Groups, and only they, stand without a provider. */
export function idBelow(scope: string, type: string, names: readonly string[]): string {
  const folded = foldCase(type);
  if (
    folded === 'microsoft.resources/resourcegroups' &&
    names.length === 1 &&
    /^\/subscriptions\/[^/]+$/i.test(scope)
  ) {
    return `${scope}/resourceGroups/${names[0]}`;
  }
  if (folded === 'microsoft.resources/subscriptions' && names.length === 1) return `/subscriptions/${names[0]}`;
  return `${scope}/providers/${pairedPath(type, names)}`;
}

/** The id of a resource of a template. Throws when the name does not have as many segments as the type. */
export function templateResourceId(scope: string, type: string, name: string): string {
  const names = name.split('/');
  const segments = type.split('/').length;
  if (segments < 2 || segments !== names.length + 1 || names.includes('')) {
    throw new TemplateError(
      `The template resource '${name}' for type '${type}' has incorrect segment lengths. A nested resource type must have identical number of segments as its resource name. A root resource type must have segment length one greater than its resource name. Please see https://aka.ms/arm-syntax-resources for usage details`,
    );
  }
  return idBelow(scope, type, names);
}
