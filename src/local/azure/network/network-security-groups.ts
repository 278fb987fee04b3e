// Network security groups and their rules.

import { ArmError } from '../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { baseChild, baseType, resourceGuid } from './base-type.ts';
import { parseAddress, parseCidr } from './cidr.ts';
import { defaultRules } from './default-security-rules.ts';
import { type Part, planParts, showWithParts, touchOwner } from './parts.ts';
import { demandReference, parentId } from './references.ts';
import { demandAtMost, ownProperties, reference, shaped, texts } from './request-body.ts';
import { textOf } from './text.ts';
import { asReferences, idsOfType, inUseError, referencesOf, usersOf } from './users.ts';

const ruleParts = { member: 'securityRules', segment: 'securityRules', absent: 'remove' } as const;

const ruleProperties = Type.Object({
  protocol: Type.String(),
  access: Type.String(),
  direction: Type.String(),
  priority: Type.Integer(),
  sourcePortRange: Type.Optional(Type.String()),
  sourcePortRanges: Type.Optional(texts),
  destinationPortRange: Type.Optional(Type.String()),
  destinationPortRanges: Type.Optional(texts),
  sourceAddressPrefix: Type.Optional(Type.String()),
  sourceAddressPrefixes: Type.Optional(texts),
  destinationAddressPrefix: Type.Optional(Type.String()),
  destinationAddressPrefixes: Type.Optional(texts),
  sourceApplicationSecurityGroups: Type.Optional(Type.Array(reference)),
  destinationApplicationSecurityGroups: Type.Optional(Type.Array(reference)),
});

/** Members whose values Azure spells in one way, whatever the case they come in. */
const spelt = {
  protocol: ['Tcp', 'Udp', 'Icmp', 'Esp', 'Ah', '*'],
  access: ['Allow', 'Deny'],
  direction: ['Inbound', 'Outbound'],
} as const;

/** The lists of a rule, and how much may be in each. */
const listed = [
  'sourcePortRanges',
  'destinationPortRanges',
  'sourceAddressPrefixes',
  'destinationAddressPrefixes',
  'sourceApplicationSecurityGroups',
  'destinationApplicationSecurityGroups',
] as const;
const maxListed = 4000;

const learnMore = 'To learn more about security rules, see aka.ms/nsgrules.';

async function prepareRule({ world, id, body, within }: PrepareRequest): Promise<Prepared> {
  const kept = checkedRule(id, body);
  const group = within ?? (await world.resources.read(parentId(id.text)))?.body.resource;
  if (group === undefined)
    throw new ArmError(404, 'ResourceNotFound', `The resource '${parentId(id.text)}' was not found.`);
  if (within === undefined) {
    const others = (await world.resources.list({ parent: group.id, type: id.type })).filter(
      ({ resource }) => foldCase(resource.name) !== foldCase(id.name),
    );
    checkPriorities([
      ...others.map(({ resource }) => ({ name: resource.name, body: resource })),
      { name: id.name, body: { properties: kept } },
    ]);
  }
  const groups = [kept.sourceApplicationSecurityGroups, kept.destinationApplicationSecurityGroups];
  for (const { id: text } of groups.flatMap((list) => (list ?? []) as readonly { readonly id: string }[]))
    await demandReference(world, text, {
      type: 'microsoft.network/applicationsecuritygroups',
      by: id,
      location: group.location,
    });
  return {
    resource: { properties: kept },
    references: referencesOf(id, kept),
    ...(within === undefined ? { also: [touchOwner(group)] } : {}),
  };
}

function checkedRule(id: ResourceId, body: JsonObject): JsonObject {
  const given = ownProperties(body, []);
  const rule = shaped(ruleProperties, given as JsonObject);
  if (rule.priority < 100 || rule.priority > 4096)
    throw new ArmError(
      400,
      'SecurityRuleInvalidPriority',
      `Security rule has invalid Priority. Value provided: ${rule.priority} Allowed range 100-4096. ${learnMore}`,
      { target: id.text },
    );
  for (const [member, values] of Object.entries(spelt)) {
    const value = textOf(given[member]);
    const fit = values.find((one) => foldCase(one) === foldCase(value));
    if (fit === undefined)
      throw new ArmError(
        400,
        'InvalidRequestFormat',
        `Cannot parse the request: '${value.slice(0, 64)}' is not a value of '${member}' in security rule ${id.name}.`,
      );
    given[member] = fit;
  }
  for (const member of listed)
    demandAtMost(maxListed, rule[member] ?? [], `entries in '${member}' of security rule ${id.name}`);
  for (const side of ['source', 'destination'] as const) {
    const ports = [...(rule[`${side}PortRanges`] ?? []), ...one(rule[`${side}PortRange`])];
    if (ports.length === 0) throw missing(id, `${side}PortRange`);
    for (const port of ports) checkPorts(port);
    const prefixes = [...(rule[`${side}AddressPrefixes`] ?? []), ...one(rule[`${side}AddressPrefix`])];
    const groups = rule[`${side}ApplicationSecurityGroups`] ?? [];
    if (prefixes.length === 0 && groups.length === 0) throw missing(id, `${side}AddressPrefix`);
    for (const prefix of prefixes) checkPrefix(prefix);
    for (const member of [`${side}PortRanges`, `${side}AddressPrefixes`]) given[member] ??= [];
  }
  return given;
}

function one(value: string | undefined): readonly string[] {
  return value === undefined || value === '' ? [] : [value];
}

function missing(id: ResourceId, member: string): ArmError {
  return new ArmError(
    400,
    'SecurityRuleParameterMissing',
    `Security rule ${id.name} is missing the required parameter ${member}. ${learnMore}`,
  );
}

function checkPorts(text: string): void {
  const [, from = '', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  if (text === '*' || (from !== '' && Number(from) <= Number(to) && Number(to) <= 65_535)) return;
  throw new ArmError(
    400,
    'SecurityRuleInvalidPortRange',
    `Security rule has invalid Port range. Value provided: ${text.slice(0, 64)}. Value should be an integer OR integer range with '-' ` +
      `delimiter. Valid range 0-65535. ${learnMore}`,
  );
}

/** A range, an address, `*`, or a service tag such as `VirtualNetwork` and `Storage.WestEurope`. */
function checkPrefix(text: string): void {
  if (text === '*' || /^[a-z][a-z0-9]*(\.[a-z0-9]+)*$/i.test(text) || parseCidr(text) || parseAddress(text)) return;
  throw new ArmError(
    400,
    'SecurityRuleInvalidAddressPrefix',
    `Security rule has invalid Address prefix. Value provided: ${text.slice(0, 64)}. ${learnMore}`,
  );
}

function checkPriorities(rules: readonly Part[]): void {
  const seen = new Map<string, string>();
  for (const { name, body } of rules) {
    const { priority, direction } = (body.properties ?? {}) as JsonObject;
    const key = foldCase(`${textOf(direction)} ${textOf(priority)}`);
    const other = seen.get(key);
    if (other !== undefined)
      throw new ArmError(
        400,
        'SecurityRuleConflict',
        `Security rule ${other} conflicts with rule ${name}. Rules cannot have the same Priority and Direction. ${learnMore}`,
      );
    seen.set(key, name);
  }
}

async function prepare(request: PrepareRequest): Promise<Prepared> {
  const { id, body, current } = request;
  const { properties: _, ...rest } = body;
  const rules = await planParts(request, ruleParts);
  checkPriorities(rules.parts);
  const {
    securityRules: __,
    defaultSecurityRules: ___,
    ...plain
  } = ownProperties(body, ['resourceGuid', 'subnets', 'networkInterfaces']);
  return {
    resource: { ...rest, properties: { ...plain, resourceGuid: resourceGuid(current) } },
    references: referencesOf(id, plain),
    also: rules.also,
  };
}

async function show(world: World, record: ResourceRecord, apiVersion: string): Promise<ArmResource> {
  const group = await showWithParts(world, record, apiVersion, [ruleParts]);
  const users = await usersOf(world, group.id);
  const subnets = idsOfType(users, 'microsoft.network/virtualnetworks/subnets');
  const interfaces = idsOfType(users, 'microsoft.network/networkinterfaces');
  return {
    ...group,
    properties: {
      ...group.properties,
      defaultSecurityRules: defaultRules(group.id),
      ...(subnets.length === 0 ? {} : { subnets: asReferences(subnets) }),
      ...(interfaces.length === 0 ? {} : { networkInterfaces: asReferences(interfaces) }),
    },
  };
}

export const networkSecurityGroups: ResourceType = {
  ...baseType,
  type: 'networkSecurityGroups',
  prepare,
  show,
  inUse: inUseError(
    'InUseNetworkSecurityGroupCannotBeDeleted',
    'Network security group',
    'In order to delete the Network security group, remove the association with the resource(s). To learn how to do this, see aka.ms/deletensg.',
  ),
};

export const securityRules: ResourceType = {
  ...baseChild,
  type: 'networkSecurityGroups/securityRules',
  prepare: prepareRule,
};
