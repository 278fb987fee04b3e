// Load balancers. Pools and inbound NAT rules are resources of their own; frontends, probes and rules are kept within.

import { ArmError } from '../../../arm/errors.ts';
import { foldCase, idKey, type ResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { EffectEvent, Prepared, PrepareRequest, ProviderRoute, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { baseType, resourceGuid } from './base-type.ts';
import { type Configuration, checkedConfiguration, settleConfigurations } from './ip-configurations.ts';
import { natRuleParts, poolParts } from './load-balancer-parts.ts';
import { ownedPartRoutes } from './owned-part-routes.ts';
import { namedItems, ownedItems, type Part, planParts, showWithParts } from './parts.ts';
import { demandPublicAddress } from './public-ip-addresses.ts';
import { demandReference, invalidReference } from './references.ts';
import { ownProperties, reference, shaped } from './request-body.ts';
import { reservationsOf } from './reservations.ts';
import { naming } from './rule-names.ts';
import { skuOf } from './sku.ts';
import { textOf } from './text.ts';
import { inUseError, referencesOf, usersOf } from './users.ts';

const fullType = 'Microsoft.Network/loadBalancers';
const frontends = 'frontendIPConfigurations';
/** The lists that are kept within, beside the frontends. */
const ownedMembers = ['probes', 'loadBalancingRules', 'outboundRules', 'inboundNatPools'] as const;

const ruleProperties = Type.Object({
  frontendIPConfiguration: Type.Optional(reference),
  frontendIPConfigurations: Type.Optional(Type.Array(reference)),
  backendAddressPool: Type.Optional(reference),
  backendAddressPools: Type.Optional(Type.Array(reference)),
  probe: Type.Optional(reference),
  protocol: Type.Optional(Type.String()),
  frontendPort: Type.Optional(Type.Integer()),
  backendPort: Type.Optional(Type.Integer()),
  port: Type.Optional(Type.Integer()),
});

/** What is filled in where a body says nothing. */
const defaults: { readonly [member in (typeof ownedMembers)[number]]: JsonObject } = {
  probes: { intervalInSeconds: 15, numberOfProbes: 2, probeThreshold: 1, noHealthyBackendsBehavior: 'AllProbedDown' },
  loadBalancingRules: {
    enableFloatingIP: false,
    idleTimeoutInMinutes: 4,
    enableTcpReset: false,
    disableOutboundSnat: false,
    loadDistribution: 'Default',
  },
  outboundRules: { allocatedOutboundPorts: 0, idleTimeoutInMinutes: 4, enableTcpReset: false },
  inboundNatPools: { idleTimeoutInMinutes: 4, enableFloatingIP: false, enableTcpReset: false },
};

async function prepare(request: PrepareRequest): Promise<Prepared> {
  const { world, id, body, current } = request;
  const { properties: _, ...rest } = body;
  const { backendAddressPools: __, inboundNatRules: ___, ...plain } = ownProperties(body, ['resourceGuid']);
  const sku = skuOf(id, body, ['Basic', 'Standard', 'Gateway']);
  const pools = await planParts(request, poolParts);
  const natRules = await planParts(request, natRuleParts);
  const front = await checkedFrontends(request, sku.name);
  const owned: { [member: string]: readonly JsonObject[] } = {
    [frontends]: ownedItems(id, fullType, frontends, frontends, front),
  };
  for (const member of ownedMembers) {
    const items = namedItems(id, { member }, plain[member]).map((item) => ({
      ...item,
      body: { ...item.body, properties: { ...defaults[member], ...(item.body.properties as JsonObject | undefined) } },
    }));
    owned[member] = ownedItems(id, fullType, member, member, items);
  }
  const known = new Set([
    ...Object.values(owned).flatMap((items) => items.map((item) => idKey(textOf(item.id)))),
    ...pools.parts.map(({ name }) => idKey(`${id.text}/${poolParts.segment}/${name}`)),
    ...natRules.parts.map(({ name }) => idKey(`${id.text}/${natRuleParts.segment}/${name}`)),
  ]);
  for (const member of ['loadBalancingRules', 'outboundRules', 'inboundNatPools'])
    for (const rule of owned[member] ?? []) checkRule(id, rule, known);
  for (const { body: rule, name } of natRules.parts)
    checkRule(id, { ...rule, id: `${id.text}/${natRuleParts.segment}/${name}` }, known);
  checkFrontendPorts(owned.loadBalancingRules ?? []);
  await checkRemoved(world, id, current, known);
  const whole: JsonObject = { ...plain, ...owned, resourceGuid: resourceGuid(current) };
  return {
    resource: { ...rest, sku, properties: whole },
    references: referencesOf(id, whole),
    also: [...pools.also, ...natRules.also],
  };
}

async function checkedFrontends({ world, id, body, current }: PrepareRequest, sku: string): Promise<readonly Part[]> {
  const items = namedItems(id, { member: frontends }, (body.properties as JsonObject | undefined)?.[frontends]);
  const location = textOf(body.location);
  const checked: Part[] = [];
  for (const item of items) {
    const readOnly = [
      'loadBalancingRules',
      'outboundRules',
      'inboundNatRules',
      'inboundNatPools',
      'gatewayLoadBalancer',
    ];
    const properties: { [member: string]: Json | undefined } = { ...(item.body.properties as JsonObject | undefined) };
    for (const name of readOnly.slice(0, 4)) delete properties[name];
    const place = { owner: id, segment: frontends, location, current, member: frontends };
    const { given, kept } = await checkedConfiguration(world, place, { ...item, body: { ...item.body, properties } });
    await checkFrontend(world, id, item.name, location, sku, given);
    checked.push({
      ...item,
      body: {
        ...item.body,
        properties: { ...kept, privateIPAllocationMethod: kept.privateIPAllocationMethod ?? 'Dynamic' },
      },
    });
  }
  return checked;
}

async function checkFrontend(
  world: World,
  id: ResourceId,
  name: string,
  location: string,
  sku: string,
  given: Configuration,
): Promise<void> {
  const part = `${id.text}/${frontends}/${name}`;
  const ways = [given.subnet, given.publicIPAddress, given.publicIPPrefix].filter((way) => way !== undefined);
  if (ways.length !== 1)
    throw new ArmError(
      400,
      'LoadBalancerFrontendIPConfigurationInvalid',
      `Frontend IP configuration ${part} must reference either a subnet, a public IP address or a public IP prefix.`,
    );
  if (given.publicIPPrefix)
    await demandReference(world, given.publicIPPrefix.id, {
      type: 'microsoft.network/publicipprefixes',
      by: id,
      location,
    });
  if (!given.publicIPAddress) return;
  const { resource } = await demandPublicAddress(world, given.publicIPAddress.id, id, part, location);
  const addressSku = textOf((resource.sku as JsonObject | undefined)?.name);
  if ((addressSku === 'Basic') !== (sku === 'Basic'))
    throw new ArmError(
      400,
      'PublicIPAndLBSkuDoNotMatch',
      `${sku} sku load balancer ${id.text} cannot reference ${addressSku} sku publicIP ${resource.id}.`,
    );
}

function checkRule(id: ResourceId, rule: JsonObject, known: ReadonlySet<string>): void {
  const given = shaped(ruleProperties, rule.properties as JsonObject | undefined);
  const inside = [
    given.frontendIPConfiguration,
    ...(given.frontendIPConfigurations ?? []),
    given.backendAddressPool,
    ...(given.backendAddressPools ?? []),
    given.probe,
  ];
  for (const target of inside) {
    if (target !== undefined && !known.has(idKey(target.id)))
      throw invalidReference(target.id, { ...id, text: textOf(rule.id) });
  }
  for (const port of [given.frontendPort, given.backendPort]) {
    if (port !== undefined && (port < 0 || port > 65_535))
      throw new ArmError(
        400,
        'InvalidPort',
        `Port ${port} of ${textOf(rule.id)} is not valid: ports are between 0 and 65535.`,
      );
  }
}

function checkFrontendPorts(rules: readonly JsonObject[]): void {
  const seen = new Map<string, string>();
  for (const rule of rules) {
    const { protocol, frontendPort, frontendIPConfiguration } = (rule.properties ?? {}) as JsonObject;
    const frontend = (frontendIPConfiguration as JsonObject | undefined)?.id;
    const key = foldCase(`${textOf(frontend)} ${textOf(protocol)} ${textOf(frontendPort)}`);
    const other = seen.get(key);
    if (other !== undefined)
      throw new ArmError(
        400,
        'RulesUseSameFrontendPortProtocolAndIPConfig',
        `Load balancing rules with the same frontend port ${textOf(frontendPort)}, protocol ${textOf(protocol)} and frontend IP ` +
          `configuration are not allowed: ${other}, ${textOf(rule.id)}.`,
      );
    seen.set(key, textOf(rule.id));
  }
}

/** A frontend that a private link service stands on stays. */
async function checkRemoved(
  world: World,
  id: ResourceId,
  current: ResourceRecord | undefined,
  known: ReadonlySet<string>,
): Promise<void> {
  for (const item of (current?.resource.properties?.[frontends] ?? []) as readonly JsonObject[]) {
    if (known.has(idKey(textOf(item.id)))) continue;
    const [user] = await usersOf(world, textOf(item.id));
    if (user)
      throw new ArmError(
        400,
        'InUseFrontendIPConfigurationCannotBeDeleted',
        `Frontend IP configuration ${textOf(item.id)} of load balancer ${id.name} cannot be removed because it is in use by ${user.resource.id}.`,
      );
  }
}

async function effect(world: World, { kind, id, record }: EffectEvent): Promise<JsonObject | undefined> {
  if (kind !== 'delete')
    return { [frontends]: await settleConfigurations(world, id, record.resource.properties?.[frontends]) };
  await (await reservationsOf(world.store)).keepOnly(id.key, new Set());
  return undefined;
}

async function show(world: World, record: ResourceRecord, apiVersion: string): Promise<ArmResource> {
  const shown = await showWithParts(world, record, apiVersion, [poolParts, natRuleParts]);
  const { properties = {} } = shown;
  const list = (member: string) => (properties[member] ?? []) as readonly JsonObject[];
  const front = list(frontends).map((item) => ({
    ...item,
    properties: {
      ...(item.properties as JsonObject),
      ...naming(textOf(item.id), 'loadBalancingRules', list('loadBalancingRules')),
      ...naming(textOf(item.id), 'outboundRules', list('outboundRules')),
      ...naming(textOf(item.id), 'inboundNatRules', list('inboundNatRules')),
    },
  }));
  const probes = list('probes').map((item) => ({
    ...item,
    properties: {
      ...(item.properties as JsonObject),
      ...naming(textOf(item.id), 'loadBalancingRules', list('loadBalancingRules')),
    },
  }));
  return { ...shown, properties: { ...properties, [frontends]: front, probes } };
}

export const loadBalancers: ResourceType = {
  ...baseType,
  type: 'loadBalancers',
  prepare,
  effect,
  show,
  inUse: inUseError('LoadBalancerInUse', 'Load balancer', 'Remove the association first.'),
};

export const loadBalancerRoutes: readonly ProviderRoute[] = ownedPartRoutes('loadBalancers', [
  frontends,
  'probes',
  'loadBalancingRules',
  'outboundRules',
]);
