import type { ResourceRequest } from '../arm-client.ts';
import type { JsonObject } from '../json.ts';
import { type Group, resourceIdIn } from './ids.ts';
import { networkVersion } from './virtual-network.ts';

/** Where traffic comes in: a public address, or one of a subnet. */
export type Frontend =
  | { readonly name: string; readonly publicIpAddressId: string }
  | { readonly name: string; readonly subnetId: string; readonly zones?: readonly string[] };

export interface Probe {
  readonly name: string;
  readonly protocol: 'Tcp' | 'Http' | 'Https';
  readonly port: number;
  /** Of Http and Https. */
  readonly path?: string;
}

export interface BalancingRule {
  readonly name: string;
  readonly frontend: string;
  readonly pool: string;
  readonly probe: string;
  readonly port: number;
  /** The same when left out. */
  readonly backendPort?: number;
  /** Whether what goes out does so by an outbound rule alone. */
  readonly disableOutboundSnat?: boolean;
}

export interface LoadBalancerOptions {
  readonly location: string;
  readonly frontends: readonly Frontend[];
  readonly pools: readonly string[];
  readonly probes: readonly Probe[];
  readonly rules: readonly BalancingRule[];
  /** Traffic from a pool to the internet leaves by these frontends. */
  readonly outbound?: { readonly name: string; readonly frontends: readonly string[]; readonly pool: string };
}

const probeEverySeconds = 5;
const probeFailures = 2;
const idleMinutes = 30;

export function loadBalancer(group: Group, name: string, options: LoadBalancerOptions): ResourceRequest {
  const { location, frontends, pools, probes, rules, outbound } = options;
  const id = resourceIdIn(group, 'Microsoft.Network/loadBalancers', name);
  const part = (kind: string, of: string): JsonObject => ({ id: `${id}/${kind}/${of}` });
  return {
    id,
    apiVersion: networkVersion,
    body: {
      location,
      sku: { name: 'Standard', tier: 'Regional' },
      properties: {
        frontendIPConfigurations: frontends.map(frontendOf),
        backendAddressPools: pools.map((pool) => ({ name: pool })),
        probes: probes.map(({ name: probeName, path, ...probe }) => ({
          name: probeName,
          properties: {
            ...probe,
            intervalInSeconds: probeEverySeconds,
            numberOfProbes: probeFailures,
            ...(path === undefined ? {} : { requestPath: path }),
          },
        })),
        loadBalancingRules: rules.map((rule) => ({
          name: rule.name,
          properties: {
            frontendIPConfiguration: part('frontendIPConfigurations', rule.frontend),
            backendAddressPool: part('backendAddressPools', rule.pool),
            probe: part('probes', rule.probe),
            protocol: 'Tcp',
            loadDistribution: 'Default',
            frontendPort: rule.port,
            backendPort: rule.backendPort ?? rule.port,
            idleTimeoutInMinutes: idleMinutes,
            disableOutboundSnat: rule.disableOutboundSnat ?? true,
          },
        })),
        ...(outbound === undefined
          ? {}
          : {
              outboundRules: [
                {
                  name: outbound.name,
                  properties: {
                    frontendIPConfigurations: outbound.frontends.map((of) => part('frontendIPConfigurations', of)),
                    backendAddressPool: part('backendAddressPools', outbound.pool),
                    protocol: 'All',
                    idleTimeoutInMinutes: idleMinutes,
                  },
                },
              ],
            }),
      },
    },
  };
}

function frontendOf(frontend: Frontend): JsonObject {
  const { name } = frontend;
  if ('publicIpAddressId' in frontend) {
    return { name, properties: { publicIPAddress: { id: frontend.publicIpAddressId } } };
  }
  const { subnetId, zones } = frontend;
  return {
    name,
    ...(zones === undefined ? {} : { zones }),
    properties: { privateIPAllocationMethod: 'Dynamic', subnet: { id: subnetId } },
  };
}
