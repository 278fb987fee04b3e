import type { KubeObject } from './object.ts';
import { resource } from './resource.ts';

export interface Lease extends KubeObject {
  spec?: {
    /** Empty when the last holder let go. */
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

export const leases = resource<Lease>('coordination.k8s.io/v1', 'Lease', 'leases');
