// Services of type LoadBalancer, where something outside of the cluster answers for them. Elsewhere they stay pending.
import type { HostedCluster } from '../clusters.ts';
import { type Controller, itself } from './controller.ts';
import { services } from './kinds.ts';
import type { Service } from './shapes.ts';

/** The address (IP or host name) that a service is reached by from outside; undefined while there is none. */
export type LoadBalancerAddress = (cluster: HostedCluster, service: Service) => string | undefined;

const isAddress = /^[\d.]+$|:/;

type Ingress = { readonly ip?: string; readonly hostname?: string; readonly ipMode?: string };

const ingressOf = (address: string): Ingress =>
  isAddress.test(address) ? { ip: address, ipMode: 'VIP' } : { hostname: address };

export function loadBalancersController(addressOf: LoadBalancerAddress): Controller {
  return {
    name: 'service-controller',
    triggers: { [services.type.storage]: itself },
    async reconcile(hands, { namespace, name }) {
      const service = hands.get(services, namespace, name);
      if (!service || service.metadata.deletionTimestamp) return undefined;
      const { spec, status } = service;
      const ours = spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined;
      const address = ours ? addressOf(hands.cluster, service) : undefined;
      const wanted = address === undefined ? {} : { ingress: [ingressOf(address)] };
      if (JSON.stringify(status?.loadBalancer ?? {}) === JSON.stringify(wanted)) return undefined;
      await hands.setStatus(services, service, { ...status, loadBalancer: wanted });
      if (address === undefined) await hands.event(service, 'Normal', 'DeletedLoadBalancer', 'Deleted load balancer');
      else await hands.event(service, 'Normal', 'EnsuredLoadBalancer', 'Ensured load balancer');
      return undefined;
    },
  };
}
