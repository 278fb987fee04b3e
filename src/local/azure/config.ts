// What can be set about a cloud, and what it is when nothing is.
import { foldCase, isGuid } from '../../arm/resource-id.ts';
import type { Logger } from '../../kit/log.ts';
import type { ThrottleLimits } from './arm/throttle.ts';
import type { Location } from './cloud.ts';
import type { DirectorySeed } from './entra/seed.ts';
import type { Endpoint } from './front-door/endpoint.ts';
import type { DataPlaneService } from './kernel/data-plane.ts';
import type { Fault } from './kernel/faults.ts';
import type { ProfileName } from './kernel/profiles.ts';
import type { Provider } from './kernel/provider.ts';
import type { Subscription, SubscriptionState } from './kernel/subscriptions.ts';

export const subscriptionStates = [
  'Enabled',
  'Warned',
  'PastDue',
  'Disabled',
  'Deleted',
] as const satisfies readonly SubscriptionState[];

export interface SubscriptionConfig {
  /** A GUID. */
  readonly subscriptionId: string;
  readonly displayName: string;
  /** Enabled when left out. */
  readonly state?: SubscriptionState;
  /** Namespaces that it is registered for from the start; only those that every subscription has when left out. */
  readonly register?: 'all' | readonly string[];
}

export interface AzureConfig {
  readonly logger: Logger;
  /** Where everything is kept: state, certificates, tokens, ports. Left out: a temporary directory, removed at the end. */
  readonly dataDirectory?: string;
  /** The address to bind; on loopback, nothing else is taken. */
  readonly host?: string;
  /** 0 takes a free one; left out, the one remembered in the data directory. */
  readonly port?: number;
  /** Of the proxy; as with `port`. */
  readonly proxyPort?: number;
  /** Of the DNS server, UDP and TCP; as with `port`. */
  readonly dnsPort?: number;
  /** Host names beyond the cloud that the proxy leads to: `example.com` itself, `.example.com` for all below it. */
  readonly proxyPassThrough?: readonly string[];
  /** All host names end with it. */
  readonly suffix?: string;
  /** As clients name the cloud. */
  readonly name?: string;
  /** The tenant that subscriptions are in. */
  readonly tenantId?: string;
  /** Made when they are not there yet; those that are stay as they are. */
  readonly subscriptions?: readonly SubscriptionConfig[];
  readonly locations?: readonly Location[];
  readonly profile?: ProfileName;
  /** From the start on; more come over the control endpoint. */
  readonly faults?: readonly Fault[];
  /** How many calls a caller may make; those of the profile when left out. */
  readonly throttling?: ThrottleLimits;
  /** FULL waits for the disk with every write. */
  readonly synchronous?: 'NORMAL' | 'FULL';
  /** Namespaces beside those of providers.ts. */
  readonly providers?: readonly Provider[];
  readonly dataPlanes?: readonly DataPlaneService[];
  /** Ids of applications that are services of the platform: they write deny assignments and ask about anybody's access. */
  readonly platformApps?: readonly string[];
  /** Resource providers that Resource Manager is the front door of; more come over the control endpoint. */
  readonly resourceProviders?: readonly Endpoint[];
  /** Users, groups and applications that the directory shall have. */
  readonly directory?: Omit<DirectorySeed, 'tenants'>;
  /** Object ids of principals that own everything from the start. */
  readonly owners?: readonly string[];
  readonly graceSeconds?: number;
}

export const defaultTenantId = '72f90000-86f1-41af-91ab-2d7cd0110000';
export const defaultSuffix = 'azure.test';
export const defaultCloudName = 'AroLocal';

const place = (name: string, displayName: string, pairedWith: string, zones = true): Location => ({
  name,
  displayName,
  pairedWith,
  zones,
});

/** A choice of Azure's regions, with their real pairs. */
export const defaultLocations: readonly Location[] = [
  place('australiaeast', 'Australia East', 'australiasoutheast'),
  place('australiasoutheast', 'Australia Southeast', 'australiaeast', false),
  place('brazilsouth', 'Brazil South', 'southcentralus'),
  place('canadacentral', 'Canada Central', 'canadaeast'),
  place('canadaeast', 'Canada East', 'canadacentral', false),
  place('centralindia', 'Central India', 'southindia'),
  place('centralus', 'Central US', 'eastus2'),
  place('eastasia', 'East Asia', 'southeastasia'),
  place('eastus', 'East US', 'westus'),
  place('eastus2', 'East US 2', 'centralus'),
  place('francecentral', 'France Central', 'francesouth'),
  place('germanywestcentral', 'Germany West Central', 'germanynorth'),
  place('japaneast', 'Japan East', 'japanwest'),
  place('koreacentral', 'Korea Central', 'koreasouth'),
  place('northcentralus', 'North Central US', 'southcentralus', false),
  place('northeurope', 'North Europe', 'westeurope'),
  place('norwayeast', 'Norway East', 'norwaywest'),
  place('southafricanorth', 'South Africa North', 'southafricawest'),
  place('southcentralus', 'South Central US', 'northcentralus'),
  place('southeastasia', 'Southeast Asia', 'eastasia'),
  place('southindia', 'South India', 'centralindia', false),
  place('swedencentral', 'Sweden Central', 'swedensouth'),
  place('switzerlandnorth', 'Switzerland North', 'switzerlandwest'),
  place('uaenorth', 'UAE North', 'uaecentral'),
  place('uksouth', 'UK South', 'ukwest'),
  place('ukwest', 'UK West', 'uksouth', false),
  place('westcentralus', 'West Central US', 'westus2', false),
  place('westeurope', 'West Europe', 'northeurope'),
  place('westus', 'West US', 'eastus', false),
  place('westus2', 'West US 2', 'westcentralus'),
  place('westus3', 'West US 3', 'eastus'),
];

/** A subscription of the configuration as it is made. `namespaces` are all that the cloud has. */
export function newSubscription(
  { register = [], ...given }: SubscriptionConfig,
  namespaces: readonly string[],
): Omit<SubscriptionConfig, 'register'> & Pick<Subscription, 'registrations'> {
  const registered = register === 'all' ? namespaces : register;
  return {
    ...given,
    registrations: Object.fromEntries(registered.map((namespace) => [foldCase(namespace), 'Registered' as const])),
  };
}

const suffixForm = /^(?=.{1,180}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;
const loopbackForm = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/;

/** Throws for settings that no cloud can have; says what is allowed. */
export function checkConfig(config: AzureConfig): void {
  const { host, suffix, tenantId, subscriptions = [] } = config;
  if (host !== undefined && !loopbackForm.test(host))
    throw new TypeError(`the embedded Azure listens on loopback only (127.0.0.1, ::1), not on ${host}`);
  if (suffix !== undefined && !suffixForm.test(suffix))
    throw new TypeError(`${JSON.stringify(suffix)} cannot be the cloud's suffix: it must be a DNS name in lower case`);
  if (tenantId !== undefined && !isGuid(tenantId))
    throw new TypeError(`the tenant ${JSON.stringify(tenantId)} is not a GUID`);
  for (const { subscriptionId } of subscriptions) {
    if (!isGuid(subscriptionId))
      throw new TypeError(`the subscription ${JSON.stringify(subscriptionId)} is not a GUID`);
  }
}
