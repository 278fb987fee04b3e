// Azure resource ids. Text from anywhere may be given: it is answered with a typed problem, never with an exception.

/** Why a text is not a resource id. */
export type IdProblem =
  | 'NotAnId'
  | 'TooLong'
  | 'InvalidSubscription'
  | 'InvalidResourceGroup'
  | 'InvalidLocation'
  | 'InvalidProvider'
  | 'InvalidType'
  | 'InvalidName';

/** Where a resource lives when it extends no other resource. */
export type IdScope = 'tenant' | 'subscription' | 'resourceGroup' | 'location';

/** A parsed id. Every part keeps the case it came in; `key` is what to compare and to store under. */
export interface ResourceId {
  /** The whole id as given, without a slash at the end. */
  readonly text: string;
  /** The whole id with A to Z in lower case. Two ids name the same resource exactly when their keys are equal. */
  readonly key: string;
  readonly scope: IdScope;
  readonly subscriptionId?: string;
  readonly resourceGroup?: string;
  readonly location?: string;
  /** The provider namespace; absent for a subscription, a resource group or a location. */
  readonly provider?: string;
  /** Type segments below the provider, outermost first: `['hcpOpenShiftClusters', 'nodePools']`. */
  readonly types: readonly string[];
  /** One name for each type segment. */
  readonly names: readonly string[];
  /** The full type: `Microsoft.Network/virtualNetworks/subnets`. */
  readonly type: string;
  /** The last name: of the resource, else of the group, the location, the subscription. */
  readonly name: string;
  /** For an extension resource: the id that it extends. */
  readonly extends?: ResourceId;
}

export type ParsedId =
  | { readonly ok: true; readonly id: ResourceId }
  | { readonly ok: false; readonly problem: IdProblem; readonly message: string };

const idMaxLength = 2048;
const namespaceForm = /^[a-z][a-z0-9]*(?:\.[a-z0-9]+)*$/i;
const typeForm = /^[a-z][a-z0-9_.-]*$/i;
const locationForm = /^[a-z0-9-]+$/i;
const guidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const beyondAscii = /[\u0080-\uffff]/;
const groupForm = /^[\p{L}\p{N}_\-.()]+$/u;

/** 8-4-4-4-12 hexadecimal digits, either case. */
export function isGuid(text: string): boolean {
  return text.length === 36 && guidForm.test(text);
}

/** 1 to 90 letters, digits, `-`, `_`, `.`, `(` and `)`, not ending with a dot. */
export function isResourceGroupName(text: string): boolean {
  return text.length > 0 && text.length <= 90 && !text.endsWith('.') && groupForm.test(text);
}

/** 1 to 90 lower- or upper-case letters, digits and hyphens. */
export function isLocationName(text: string): boolean {
  return text.length > 0 && text.length <= 90 && locationForm.test(text);
}

/** A provider namespace such as `Microsoft.RedHatOpenShift`. */
export function isProviderNamespace(text: string): boolean {
  return text.length > 0 && text.length <= 260 && namespaceForm.test(text);
}

/** One segment of a resource type. */
export function isTypeSegment(text: string): boolean {
  return text.length > 0 && text.length <= 128 && typeForm.test(text);
}

/** What any Azure resource name may be: 1 to 260 characters, none of them a control character or one of `<>%&\?/#`. */
export function isResourceName(text: string): boolean {
  if (text.length === 0 || text.length > 260 || text === '.' || text === '..' || !text.isWellFormed()) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return false;
    // < > % & \ ? / #
    if (code === 60 || code === 62 || code === 37 || code === 38) return false;
    if (code === 92 || code === 63 || code === 47 || code === 35) return false;
  }
  return true;
}

/**
 * A to Z in lower case, all else as it is. Of the other letters some have a lower-case form that is another letter (the Kelvin sign's is k)
 * or more than one, so that names of two resources would become one.
 */
export function foldCase(text: string): string {
  // Text of ASCII alone, nearly all there is, has no letters but these.
  if (!beyondAscii.test(text)) return text.toLowerCase();
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Whether two ids, as text or parsed, name the same resource. A slash at the end does not count. */
export function sameId(a: string | ResourceId, b: string | ResourceId): boolean {
  return idKey(a) === idKey(b);
}

/** The text to compare and store under: case folded, without a slash at the end. */
export function idKey(id: string | ResourceId): string {
  return typeof id === 'string' ? foldCase(withoutTrailingSlash(id)) : id.key;
}

/**
 * Parses an id: `/subscriptions/{id}`, a resource group or location in it, a resource of any depth at tenant, subscription
 * or group scope, and extension resources (`…/providers/A/b/c/providers/D/e/f`). Anything else is a typed problem.
 */
export function parseResourceId(given: string): ParsedId {
  if (given.length > idMaxLength) return bad('TooLong', `a resource id has at most ${idMaxLength} characters`);
  const text = withoutTrailingSlash(given);
  if (!text.startsWith('/')) return bad('NotAnId', 'a resource id starts with /');
  const parts = text.split('/');
  let at = 1;
  let scope: IdScope = 'tenant';
  let type = '';
  let name = '';
  const place: { subscriptionId?: string; resourceGroup?: string; location?: string } = {};

  if (isWord(parts[at], 'subscriptions')) {
    const subscriptionId = parts[at + 1] ?? '';
    if (!isGuid(subscriptionId)) return bad('InvalidSubscription', 'the subscription id is not a GUID');
    place.subscriptionId = name = subscriptionId;
    scope = 'subscription';
    type = 'Microsoft.Resources/subscriptions';
    at += 2;
    if (isWord(parts[at], 'resourcegroups')) {
      const group = parts[at + 1] ?? '';
      if (!isResourceGroupName(group)) return bad('InvalidResourceGroup', 'the resource group name is not valid');
      place.resourceGroup = name = group;
      scope = 'resourceGroup';
      type = 'Microsoft.Resources/resourceGroups';
      at += 2;
    } else if (isWord(parts[at], 'locations')) {
      const location = parts[at + 1] ?? '';
      if (!isLocationName(location)) return bad('InvalidLocation', 'the location is not valid');
      place.location = name = location;
      scope = 'location';
      type = 'Microsoft.Resources/subscriptions/locations';
      at += 2;
    }
  }

  let id: ResourceId | undefined =
    scope === 'tenant'
      ? undefined
      : {
          text: prefix(parts, at),
          key: foldCase(prefix(parts, at)),
          scope,
          ...place,
          types: [],
          names: [],
          type,
          name,
        };

  while (at < parts.length) {
    if (!isWord(parts[at], 'providers')) return bad('NotAnId', `segment ${at} should be providers`);
    const provider = parts[at + 1] ?? '';
    if (!isProviderNamespace(provider)) return bad('InvalidProvider', 'the provider namespace is not valid');
    at += 2;
    const types: string[] = [];
    const names: string[] = [];
    while (at < parts.length && (types.length === 0 || !isWord(parts[at], 'providers'))) {
      const segment = parts[at] ?? '';
      if (!isTypeSegment(segment)) return bad('InvalidType', `segment ${at} is not a resource type`);
      const resourceName = parts[at + 1];
      if (resourceName === undefined) return bad('InvalidName', `the name after ${segment} is missing`);
      if (!isResourceName(resourceName)) return bad('InvalidName', `the name after ${segment} is not valid`);
      types.push(segment);
      names.push(resourceName);
      at += 2;
    }
    if (types.length === 0) return bad('InvalidType', 'the resource type is missing');
    const whole = prefix(parts, at);
    const extended = id !== undefined && id.types.length > 0 ? id : undefined;
    const located = isWord(types[0], 'locations') ? { location: names[0] ?? '' } : {};
    id = {
      text: whole,
      key: foldCase(whole),
      scope,
      ...place,
      ...located,
      provider,
      types,
      names,
      type: `${provider}/${types.join('/')}`,
      name: names.at(-1) ?? '',
      ...(extended ? { extends: extended } : {}),
    };
  }
  return id === undefined ? bad('NotAnId', 'the id names nothing') : { ok: true, id };
}

/** What to build an id from. Parts are taken as they are: give only parts that were checked. */
export interface IdParts {
  readonly subscriptionId?: string;
  readonly resourceGroup?: string;
  readonly provider?: string;
  /** Type and name pairs, outermost first. */
  readonly path?: readonly (readonly [type: string, name: string])[];
}

/** The id's text, with the segment names spelt as Azure spells them. */
export function buildResourceId(parts: IdParts): string {
  let text = parts.subscriptionId === undefined ? '' : `/subscriptions/${parts.subscriptionId}`;
  if (parts.resourceGroup !== undefined) text += `/resourceGroups/${parts.resourceGroup}`;
  if (parts.provider !== undefined) text += `/providers/${parts.provider}`;
  for (const [type, name] of parts.path ?? []) text += `/${type}/${name}`;
  return text;
}

function bad(problem: IdProblem, message: string): ParsedId {
  return { ok: false, problem, message };
}

function isWord(segment: string | undefined, lowerCase: string): boolean {
  return segment !== undefined && segment.length === lowerCase.length && foldCase(segment) === lowerCase;
}

function prefix(parts: readonly string[], end: number): string {
  return end >= parts.length ? parts.join('/') : parts.slice(0, end).join('/');
}

function withoutTrailingSlash(text: string): string {
  return text.length > 1 && text.endsWith('/') ? text.slice(0, -1) : text;
}
