// The columns of types outside core, workloads included from their own file.
import type { KubeObject } from '../object.ts';
import type { LabelSelector } from '../types/pod/pod-spec.ts';
import type { Column } from '../types/resource-type.ts';
import { humanDuration } from './age.ts';
import {
  ageColumn,
  column,
  firstThree,
  flag,
  nameColumn,
  none,
  plainColumns,
  selectorText,
  specOf,
  statusOf,
  unset,
  whole,
  wide,
} from './columns.ts';
import { balancerText, eventColumns } from './core-columns.ts';
import { counted, workloadColumns } from './workload-columns.ts';

interface IngressSpec {
  ingressClassName: string;
  rules: { host?: string }[];
  tls: object[];
}

function hostsText(object: KubeObject): string {
  const rules = specOf<IngressSpec>(object).rules ?? [];
  const hosts = rules.map(({ host }) => host ?? '').filter((host) => host !== '');
  return firstThree(hosts, '*', hosts.length > 3 ? rules.length : hosts.length);
}

interface ClassParameters {
  kind: string;
  apiGroup?: string;
  name: string;
}

interface Subject {
  kind: string;
  name: string;
  namespace?: string;
}

const subjects =
  (kind: string) =>
  ({ subjects: all }: KubeObject): string =>
    ((all ?? []) as Subject[])
      .filter((subject) => subject.kind === kind)
      .map(({ name, namespace }) => (kind === 'ServiceAccount' && namespace ? `${namespace}/${name}` : name))
      .join(', ');

const bindingColumns: readonly Column[] = [
  nameColumn,
  column('Role', ({ roleRef }) => {
    const { kind, name } = roleRef as { kind: string; name: string };
    return `${kind}/${name}`;
  }),
  ageColumn,
  wide('Users', subjects('User')),
  wide('Groups', subjects('Group')),
  wide('ServiceAccounts', subjects('ServiceAccount')),
];

interface CsrStatus {
  conditions: { type: string }[];
  certificate: string;
}

function csrState(object: KubeObject): string {
  const { conditions = [], certificate } = statusOf<CsrStatus>(object);
  const has = (type: string): boolean => conditions.some((condition) => condition.type === type);
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return `${decision}${has('Failed') ? ',Failed' : ''}${certificate ? ',Issued' : ''}`;
}

const intOrNotAvailable = (value: number | string | undefined): string => (value === undefined ? 'N/A' : String(value));

function available(object: KubeObject): string {
  const { conditions = [] } = statusOf<{ conditions: { type: string; status: string; reason?: string }[] }>(object);
  const condition = conditions.find(({ type }) => type === 'Available');
  if (!condition) return 'Unknown';
  return condition.status !== 'True' && condition.reason
    ? `${condition.status} (${condition.reason})`
    : condition.status;
}

const webhookColumns: readonly Column[] = [
  nameColumn,
  whole('Webhooks', ({ webhooks }) => ((webhooks ?? []) as object[]).length),
  ageColumn,
];

function paramText(object: KubeObject): string {
  const reference = specOf<{ paramRef: { name?: string; namespace?: string; selector?: LabelSelector } }>(
    object,
  ).paramRef;
  if (!reference) return unset;
  if (reference.name) return `${reference.namespace || '*'}/${reference.name}`;
  return reference.selector ? selectorText(reference.selector) : unset;
}

interface DriverSpec {
  attachRequired: boolean;
  podInfoOnMount: boolean;
  storageCapacity: boolean;
  requiresRepublish: boolean;
  volumeLifecycleModes: string[];
  tokenRequests: { audience: string }[];
}

/** Events of events.k8s.io under the names that the columns look for. */
const asCore = (object: KubeObject): KubeObject => ({
  ...object,
  involvedObject: object.regarding,
  message: object.note,
  source: object.deprecatedSource,
  firstTimestamp: object.deprecatedFirstTimestamp,
  lastTimestamp: object.deprecatedLastTimestamp,
  count: object.deprecatedCount,
  reportingComponent: object.reportingController,
});

/** By group and plural. */
export const groupColumns: Readonly<Record<string, readonly Column[]>> = {
  ...workloadColumns,
  'policy/poddisruptionbudgets': [
    nameColumn,
    column('Min Available', (object) =>
      intOrNotAvailable(specOf<{ minAvailable: number | string }>(object).minAvailable),
    ),
    column('Max Unavailable', (object) =>
      intOrNotAvailable(specOf<{ maxUnavailable: number | string }>(object).maxUnavailable),
    ),
    whole('Allowed Disruptions', counted('disruptionsAllowed')),
    ageColumn,
  ],
  'networking.k8s.io/ingresses': [
    nameColumn,
    column('Class', (object) => specOf<IngressSpec>(object).ingressClassName ?? none),
    column('Hosts', hostsText),
    column('Address', balancerText),
    column('Ports', (object) => (specOf<IngressSpec>(object).tls?.length ? '80, 443' : '80')),
    ageColumn,
  ],
  'networking.k8s.io/ingressclasses': [
    nameColumn,
    column('Controller', (object) => specOf<{ controller: string }>(object).controller ?? ''),
    column('Parameters', (object) => {
      const { parameters } = specOf<{ parameters: ClassParameters }>(object);
      if (!parameters) return none;
      return `${parameters.kind}${parameters.apiGroup === undefined ? '' : `.${parameters.apiGroup}`}/${parameters.name}`;
    }),
    ageColumn,
  ],
  'networking.k8s.io/networkpolicies': [
    nameColumn,
    column('Pod-Selector', (object) => selectorText(specOf<{ podSelector: LabelSelector }>(object).podSelector)),
    ageColumn,
  ],
  'networking.k8s.io/servicecidrs': [
    nameColumn,
    column('CIDRs', (object) => (specOf<{ cidrs: string[] }>(object).cidrs ?? []).join(',')),
    ageColumn,
  ],
  'networking.k8s.io/ipaddresses': [
    nameColumn,
    column('ParentRef', (object) => {
      const reference = specOf<{ parentRef: Record<string, string> }>(object).parentRef;
      if (!reference) return none;
      const { group, resource = '', namespace, name } = reference;
      return `${(group ? `${resource}.${group}` : resource).toLowerCase()}${namespace ? `/${namespace}` : ''}/${name}`;
    }),
  ],
  'rbac.authorization.k8s.io/roles': plainColumns,
  'rbac.authorization.k8s.io/clusterroles': plainColumns,
  'rbac.authorization.k8s.io/rolebindings': bindingColumns,
  'rbac.authorization.k8s.io/clusterrolebindings': bindingColumns,
  'certificates.k8s.io/certificatesigningrequests': [
    nameColumn,
    ageColumn,
    column('SignerName', (object) => specOf<{ signerName: string }>(object).signerName || none),
    column('Requestor', (object) => specOf<{ username: string }>(object).username ?? ''),
    column('RequestedDuration', (object) => {
      const { expirationSeconds } = specOf<{ expirationSeconds: number }>(object);
      return expirationSeconds === undefined ? none : humanDuration(expirationSeconds * 1000);
    }),
    column('Condition', csrState),
  ],
  'coordination.k8s.io/leases': [
    nameColumn,
    column('Holder', (object) => specOf<{ holderIdentity: string }>(object).holderIdentity ?? ''),
    ageColumn,
  ],
  'discovery.k8s.io/endpointslices': [
    nameColumn,
    column('AddressType', ({ addressType }) => String(addressType ?? '')),
    column('Ports', ({ ports }) =>
      firstThree(
        ((ports ?? []) as { port?: number; name?: string }[]).map(({ port, name }) => String(port ?? name ?? '*')),
        unset,
      ),
    ),
    column('Endpoints', ({ endpoints }) =>
      firstThree(
        ((endpoints ?? []) as { addresses: string[] | null }[]).flatMap(({ addresses }) => addresses ?? []),
        unset,
      ),
    ),
    ageColumn,
  ],
  'events.k8s.io/events': eventColumns.map((each) => ({
    ...each,
    cell: (object: KubeObject, now: number) => each.cell(asCore(object), now),
  })),
  'scheduling.k8s.io/priorityclasses': [
    nameColumn,
    whole('Value', ({ value }) => Number(value ?? 0)),
    flag('Global-Default', ({ globalDefault }) => globalDefault === true),
    ageColumn,
    column('PreemptionPolicy', ({ preemptionPolicy }) => String(preemptionPolicy ?? '')),
  ],
  'storage.k8s.io/storageclasses': [
    column(
      'Name',
      ({ metadata }) => {
        const isDefault =
          metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true' ||
          metadata.annotations?.['storageclass.beta.kubernetes.io/is-default-class'] === 'true';
        return `${metadata.name ?? ''}${isDefault ? ' (default)' : ''}`;
      },
      { format: 'name' },
    ),
    column('Provisioner', ({ provisioner }) => String(provisioner ?? '')),
    column('ReclaimPolicy', ({ reclaimPolicy }) => String(reclaimPolicy ?? 'Delete')),
    column('VolumeBindingMode', ({ volumeBindingMode }) => String(volumeBindingMode ?? 'Immediate')),
    column('AllowVolumeExpansion', ({ allowVolumeExpansion }) => allowVolumeExpansion === true),
    ageColumn,
  ],
  'storage.k8s.io/volumeattributesclasses': [
    nameColumn,
    column('DriverName', ({ driverName }) => String(driverName ?? '')),
    ageColumn,
  ],
  'storage.k8s.io/volumeattachments': [
    nameColumn,
    column('Attacher', (object) => specOf<{ attacher: string }>(object).attacher ?? '', { format: 'name' }),
    column(
      'PV',
      (object) => specOf<{ source: { persistentVolumeName?: string } }>(object).source?.persistentVolumeName ?? '',
    ),
    column('Node', (object) => specOf<{ nodeName: string }>(object).nodeName ?? ''),
    flag('Attached', (object) => statusOf<{ attached: boolean }>(object).attached ?? false),
    ageColumn,
  ],
  'storage.k8s.io/csinodes': [
    nameColumn,
    whole('Drivers', (object) => (specOf<{ drivers: object[] }>(object).drivers ?? []).length),
    ageColumn,
  ],
  'storage.k8s.io/csidrivers': [
    nameColumn,
    flag('AttachRequired', (object) => specOf<DriverSpec>(object).attachRequired ?? true),
    flag('PodInfoOnMount', (object) => specOf<DriverSpec>(object).podInfoOnMount ?? false),
    flag('StorageCapacity', (object) => specOf<DriverSpec>(object).storageCapacity ?? false),
    column(
      'TokenRequests',
      (object) =>
        specOf<DriverSpec>(object)
          .tokenRequests?.map(({ audience }) => audience)
          .join(',') ?? unset,
    ),
    flag('RequiresRepublish', (object) => specOf<DriverSpec>(object).requiresRepublish ?? false),
    column('Modes', (object) => (specOf<DriverSpec>(object).volumeLifecycleModes ?? []).join(',') || none),
    ageColumn,
  ],
  'storage.k8s.io/csistoragecapacities': plainColumns,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': webhookColumns,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': webhookColumns,
  'admissionregistration.k8s.io/validatingadmissionpolicies': [
    nameColumn,
    whole('Validations', (object) => (specOf<{ validations: object[] }>(object).validations ?? []).length),
    column('ParamKind', (object) => {
      const { paramKind } = specOf<{ paramKind: { apiVersion?: string; kind?: string } }>(object);
      return paramKind ? `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}` : unset;
    }),
    ageColumn,
  ],
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': [
    nameColumn,
    column('PolicyName', (object) => specOf<{ policyName: string }>(object).policyName ?? ''),
    column('ParamRef', paramText),
    ageColumn,
  ],
  'apiextensions.k8s.io/customresourcedefinitions': plainColumns,
  'apiregistration.k8s.io/apiservices': [
    nameColumn,
    column('Service', (object) => {
      const { service } = specOf<{ service: { namespace?: string; name?: string } }>(object);
      return service ? `${service.namespace ?? ''}/${service.name ?? ''}` : 'Local';
    }),
    column('Available', available),
    ageColumn,
  ],
};
