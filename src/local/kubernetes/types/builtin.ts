// Every built-in type, in the order in which discovery names groups.
import { admissionRegistrationTypes } from './admissionregistration.ts';
import { apiExtensionsTypes } from './apiextensions.ts';
import { apiRegistrationTypes } from './apiregistration.ts';
import { appsTypes } from './apps.ts';
import { authenticationTypes } from './authentication.ts';
import { authorizationTypes } from './authorization.ts';
import { batchTypes } from './batch.ts';
import { certificatesTypes } from './certificates.ts';
import { coordinationTypes } from './coordination.ts';
import { configMaps } from './core/config-maps.ts';
import { endpoints } from './core/endpoints.ts';
import { coreEvents } from './core/events.ts';
import { limitRanges } from './core/limit-ranges.ts';
import { namespaces } from './core/namespaces.ts';
import { nodes } from './core/nodes.ts';
import { bindings, componentStatuses } from './core/other.ts';
import { persistentVolumeClaims } from './core/persistent-volume-claims.ts';
import { persistentVolumes } from './core/persistent-volumes.ts';
import { podTemplates } from './core/pod-templates.ts';
import { pods } from './core/pods.ts';
import { replicationControllers } from './core/replication-controllers.ts';
import { resourceQuotas } from './core/resource-quotas.ts';
import { secrets } from './core/secrets.ts';
import { serviceAccounts } from './core/service-accounts.ts';
import { services } from './core/services.ts';
import { discoveryTypes } from './discovery.ts';
import { eventsTypes } from './events.ts';
import { networkingTypes } from './networking.ts';
import { policyTypes } from './policy.ts';
import { rbacTypes } from './rbac.ts';
import type { ResourceType } from './resource-type.ts';
import { schedulingTypes } from './scheduling.ts';
import { storageTypes } from './storage.ts';

const types: readonly ResourceType[] = [
  bindings,
  componentStatuses,
  configMaps,
  endpoints,
  coreEvents,
  limitRanges,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  podTemplates,
  replicationControllers,
  resourceQuotas,
  secrets,
  serviceAccounts,
  services,
  ...apiRegistrationTypes,
  ...appsTypes,
  ...eventsTypes,
  ...authenticationTypes,
  ...authorizationTypes,
  ...batchTypes,
  ...certificatesTypes,
  ...networkingTypes,
  ...policyTypes,
  ...rbacTypes,
  ...storageTypes,
  ...admissionRegistrationTypes,
  ...apiExtensionsTypes,
  ...schedulingTypes,
  ...coordinationTypes,
  ...discoveryTypes,
];

/** The built-in types: one list, shared by all clusters. */
export const builtinTypes = (): readonly ResourceType[] => types;
