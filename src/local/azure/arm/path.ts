// What a request's path says, before it is known whether there is such a thing.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, isGuid, isResourceGroupName, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';

const pathMaxLength = 4096;

/** The segments of a target's path, decoded; slashes too many do not count. Throws for what no path can be. */
export function segmentsOf(target: string): readonly string[] {
  const end = target.indexOf('?');
  const path = end === -1 ? target : target.slice(0, end);
  if (path.length > pathMaxLength) throw malformed(`it has more than ${pathMaxLength} characters`);
  const segments = path.split('/').filter((segment) => segment !== '');
  return inFull(path.includes('%') ? segments.map(decoded) : segments);
}

/** Deployments of a group are also reached without their namespace, from the time before there were namespaces. */
function inFull(segments: readonly string[]): readonly string[] {
  if (segments.length < 5 || foldCase(segments[4] ?? '') !== 'deployments') return segments;
  if (foldCase(segments[2] ?? '') !== 'resourcegroups') return segments;
  return [...segments.slice(0, 4), 'providers', 'Microsoft.Resources', ...segments.slice(4)];
}

function decoded(segment: string): string {
  let text: string;
  try {
    text = decodeURIComponent(segment);
  } catch {
    throw malformed('a part of it is not valid UTF-8');
  }
  if (text.includes('/') || text.includes('\0'))
    throw malformed('a name in it holds a character that names do not have');
  return text;
}

function malformed(why: string): ArmError {
  return new ArmError(400, 'BadRequest', `The request path is not valid: ${why}.`);
}

/** What is asked for, by the form of the path alone. */
export type Target =
  | { readonly kind: 'resource'; readonly id: ResourceId }
  /** A list of resources of a type below a scope (undefined: the tenant) or, by POST, a path of a provider. */
  | {
      readonly kind: 'collection';
      readonly on: ResourceId | undefined;
      readonly provider: string;
      readonly type: string;
    }
  /** A list of children, or an action on the resource. */
  | { readonly kind: 'below'; readonly id: ResourceId; readonly word: string };

/** Reads segments that hold a provider, or name a group or subscription. Undefined for paths of another form. */
export function targetOf(segments: readonly string[]): Target | undefined {
  const whole = parseResourceId(`/${segments.join('/')}`);
  if (whole.ok) return { kind: 'resource', id: whole.id };
  checkPlace(segments);
  const last = segments.at(-1) ?? '';
  const provider = segments.at(-2) ?? '';
  if (foldCase(segments.at(-3) ?? '') === 'providers') {
    const on = segments.length === 3 ? undefined : parseResourceId(`/${segments.slice(0, -3).join('/')}`);
    if (on === undefined || on.ok) return { kind: 'collection', on: on?.id, provider, type: last };
  }
  const above = parseResourceId(`/${segments.slice(0, -1).join('/')}`);
  if (above.ok) return { kind: 'below', id: above.id, word: last };
  if (whole.problem === 'InvalidName')
    throw new ArmError(
      400,
      'InvalidResourceName',
      `The resource name in the request path is not valid: ${whole.message}.`,
    );
  return undefined;
}

/** Throws what ARM says of subscription ids and group names that cannot be any. */
export function checkPlace(segments: readonly string[]): void {
  if (foldCase(segments[0] ?? '') !== 'subscriptions' || segments.length < 2) return;
  const subscriptionId = segments[1] ?? '';
  if (!isGuid(subscriptionId))
    throw new ArmError(
      400,
      'InvalidSubscriptionId',
      `The provided subscription identifier '${subscriptionId.slice(0, 64)}' is malformed or invalid.`,
    );
  if (foldCase(segments[2] ?? '') !== 'resourcegroups' || segments.length < 4) return;
  const group = segments[3] ?? '';
  if (!isResourceGroupName(group))
    throw new ArmError(
      400,
      'InvalidResourceGroup',
      `The provided resource group name '${group.slice(0, 120)}' is not valid: it has 1 to 90 letters, digits, '-', '_', '.', '(' and ')' and does not end with '.'.`,
    );
}
