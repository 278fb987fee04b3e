import type { ResourceRequest } from '../arm-client.ts';
import { type Group, resourceIdIn } from './ids.ts';
import { networkVersion } from './virtual-network.ts';

/** A way into a load balancer for networks of others. */
export function privateLinkService(
  group: Group,
  name: string,
  options: {
    readonly location: string;
    /** Of a load balancer's frontend. */
    readonly frontendId: string;
    /** Where its own addresses are taken from. */
    readonly subnetId: string;
    /** Subscriptions that see it, and those whose connections need no approval. */
    readonly visibleTo: readonly string[];
    readonly autoApproved?: readonly string[];
    /** Tells the server behind it who connects, by the PROXY protocol. */
    readonly proxyProtocol?: boolean;
  },
): ResourceRequest {
  const { location, frontendId, subnetId, visibleTo, autoApproved = [], proxyProtocol = false } = options;
  return {
    id: resourceIdIn(group, 'Microsoft.Network/privateLinkServices', name),
    apiVersion: networkVersion,
    body: {
      location,
      properties: {
        enableProxyProtocol: proxyProtocol,
        loadBalancerFrontendIpConfigurations: [{ id: frontendId }],
        ipConfigurations: [
          {
            name: `${name}-nic`,
            properties: { subnet: { id: subnetId }, privateIPAllocationMethod: 'Dynamic', primary: true },
          },
        ],
        visibility: { subscriptions: visibleTo },
        autoApproval: { subscriptions: autoApproved },
      },
    },
  };
}

/** A network's own address for a private link service of others. */
export function privateEndpoint(
  group: Group,
  name: string,
  options: {
    readonly location: string;
    readonly subnetId: string;
    readonly serviceId: string;
    readonly connectionName: string;
    /** Which part of the service, for those of Azure itself: `blob`, `vault`. */
    readonly groupIds?: readonly string[];
    /** Whether the other side must approve it first. */
    readonly manual?: boolean;
    readonly requestMessage?: string;
  },
): ResourceRequest {
  const { location, subnetId, serviceId, connectionName, groupIds, manual = false, requestMessage } = options;
  const connection = {
    name: connectionName,
    properties: {
      privateLinkServiceId: serviceId,
      ...(groupIds === undefined ? {} : { groupIds }),
      ...(requestMessage === undefined ? {} : { requestMessage }),
    },
  };
  return {
    id: resourceIdIn(group, 'Microsoft.Network/privateEndpoints', name),
    apiVersion: networkVersion,
    body: {
      location,
      properties: {
        subnet: { id: subnetId },
        ...(manual
          ? { manualPrivateLinkServiceConnections: [connection] }
          : { privateLinkServiceConnections: [connection] }),
      },
    },
  };
}

/** Approves or rejects a connection that waits at a private link service. */
export function connectionDecision(
  serviceId: string,
  connection: string,
  decision: { readonly status: 'Approved' | 'Rejected'; readonly description: string },
): ResourceRequest {
  return {
    id: `${serviceId}/privateEndpointConnections/${connection}`,
    apiVersion: networkVersion,
    body: { properties: { privateLinkServiceConnectionState: decision } },
  };
}
