// networking.k8s.io/v1.
import type { KubeObject } from '../object.ts';
import { forbiddenField, invalidBy, invalidValue, notSupported, required } from '../schema/field-errors.ts';
import { dns1035Label, dns1123Subdomain, inRange, portNumber, wildcardSubdomain } from '../schema/names.ts';
import type { FieldError } from '../status.ts';
import { isAddress, isCidr, validateCidr } from './addresses.ts';
import { declare } from './declare.ts';
import { immutable } from './metadata.ts';
import type { LabelSelector } from './pod/pod-spec.ts';
import { validatePort } from './pod/validate-container.ts';
import type { ResourceType } from './resource-type.ts';
import { validateSelector } from './selectors.ts';
import { ownStatus, status } from './status.ts';

const group = 'networking.k8s.io';

interface Backend {
  service?: { name: string; port: { name?: string; number?: number } };
  resource?: { apiGroup?: string; kind: string; name: string };
}

interface IngressSpec {
  ingressClassName?: string;
  defaultBackend?: Backend;
  rules?: { host?: string; http?: { paths: { path?: string; pathType: string | null; backend: Backend }[] | null } }[];
  tls?: { hosts?: string[]; secretName?: string }[];
}

const pathTypes = ['Exact', 'Prefix', 'ImplementationSpecific'];

function validateBackend({ service, resource }: Backend, field: string): FieldError[] {
  if (resource && service) return [invalidValue(field, '', 'cannot set both resource and service backends')];
  if (resource) return resource.name ? [] : [required(`${field}.resource.name`)];
  if (!service) return [invalidValue(field, '', 'resource or service backend is required')];
  const found = service.name
    ? invalidBy(`${field}.service.name`, service.name, dns1035Label(service.name))
    : [required(`${field}.service.name`)];
  const { name, number } = service.port;
  if (name && number) found.push(invalidValue(field, '', 'cannot set both port name & port number'));
  else if (number) found.push(...invalidBy(`${field}.service.port.number`, number, portNumber(number)));
  else if (name) found.push(...validatePort(`${field}.service.port.name`, name));
  else found.push(required(field, 'port name or number is required'));
  return found;
}

function validateHost(host: string, field: string): FieldError[] {
  if (isAddress(host)) return [invalidValue(field, host, 'must be a DNS name, not an IP address')];
  return invalidBy(field, host, host.includes('*') ? wildcardSubdomain(host) : dns1123Subdomain(host));
}

function validatePath(path: string, type: string, field: string): FieldError[] {
  if (type === 'ImplementationSpecific') {
    return path && !path.startsWith('/') ? [invalidValue(field, path, 'must be an absolute path')] : [];
  }
  if (!path.startsWith('/')) return [invalidValue(field, path, 'must be an absolute path')];
  const found = ['//', '/./', '/../', '%2f', '%2F']
    .filter((part) => path.includes(part))
    .map((part) => invalidValue(field, path, `must not contain '${part}'`));
  for (const end of ['/..', '/.']) {
    if (path.endsWith(end)) found.push(invalidValue(field, path, `cannot end with '${end}'`));
  }
  return found;
}

function validateIngress(object: KubeObject): FieldError[] {
  const { rules = [], defaultBackend, tls = [], ingressClassName } = object.spec as IngressSpec;
  if (rules.length === 0 && !defaultBackend) {
    return [invalidValue('spec', null, 'either `defaultBackend` or `rules` must be specified')];
  }
  const found = defaultBackend ? validateBackend(defaultBackend, 'spec.defaultBackend') : [];
  for (const [index, { host, http }] of rules.entries()) {
    const at = `spec.rules[${index}]`;
    if (host) found.push(...validateHost(host, `${at}.host`));
    if (!http) continue;
    if (!http.paths?.length) found.push(required(`${at}.http.paths`));
    for (const [number, { path = '', pathType, backend }] of (http.paths ?? []).entries()) {
      const here = `${at}.http.paths[${number}]`;
      if (!pathType) {
        found.push(required(`${here}.pathType`, 'pathType must be specified'));
        continue;
      }
      if (pathTypes.includes(pathType)) found.push(...validatePath(path, pathType, `${here}.path`));
      else found.push(notSupported(`${here}.pathType`, pathType, pathTypes));
      found.push(...validateBackend(backend, `${here}.backend`));
    }
  }
  for (const [index, { hosts = [] }] of tls.entries()) {
    for (const [number, host] of hosts.entries()) {
      found.push(
        ...invalidBy(
          `spec.tls[${index}].hosts[${number}]`,
          host,
          host.includes('*') ? wildcardSubdomain(host) : dns1123Subdomain(host),
        ),
      );
    }
  }
  if (ingressClassName !== undefined) {
    found.push(...invalidBy('spec.ingressClassName', ingressClassName, dns1123Subdomain(ingressClassName)));
  }
  return found;
}

interface ClassSpec {
  controller?: string;
  parameters?: { apiGroup?: string; kind: string; name: string; scope?: string; namespace?: string };
}

function validateClass(object: KubeObject): FieldError[] {
  const { controller = '', parameters } = object.spec as ClassSpec;
  const found: FieldError[] = [];
  if (!controller) found.push(required('spec.controller'));
  else {
    const [domain = '', ...path] = controller.split('/');
    if (path.length === 0 || !domain || !path.join('/')) {
      found.push(invalidValue('spec.controller', controller, 'must be a domain-prefixed path (such as "acme.io/foo")'));
    } else found.push(...invalidBy('spec.controller', domain, dns1123Subdomain(domain)));
  }
  if (!parameters) return found;
  if (!parameters.kind) found.push(required('spec.parameters.kind', 'kind is required'));
  if (!parameters.name) found.push(required('spec.parameters.name', 'name is required'));
  const scope = parameters.scope ?? '';
  if (scope !== 'Cluster' && scope !== 'Namespace') {
    found.push(notSupported('spec.parameters.scope', scope, ['Cluster', 'Namespace']));
  }
  if (scope === 'Namespace' && !parameters.namespace) {
    found.push(required('spec.parameters.namespace', "`parameters.scope` is set to 'Namespace'"));
  }
  if (scope === 'Cluster' && parameters.namespace !== undefined) {
    found.push(forbiddenField('spec.parameters.namespace', "`parameters.scope` is set to 'Cluster'"));
  }
  return found;
}

interface Peer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string; except?: string[] };
}

interface PolicyPort {
  port?: number | string;
  protocol?: string;
  endPort?: number;
}

interface PolicySpec {
  podSelector?: LabelSelector;
  ingress?: { from?: Peer[]; ports?: PolicyPort[] }[];
  egress?: { to?: Peer[]; ports?: PolicyPort[] }[];
  policyTypes?: string[];
}

const protocols = ['TCP', 'UDP', 'SCTP'];
const directions = ['Ingress', 'Egress'];

function validatePolicyPort({ port, protocol, endPort }: PolicyPort, field: string): FieldError[] {
  const found: FieldError[] = [];
  if (protocol !== undefined && !protocols.includes(protocol)) {
    found.push(notSupported(`${field}.protocol`, protocol, protocols));
  }
  if (port !== undefined) found.push(...validatePort(`${field}.port`, port));
  if (endPort !== undefined) {
    if (port === undefined) found.push(required(`${field}.port`, 'must be specified when `endPort` is specified'));
    else if (typeof port === 'string') {
      found.push(invalidValue(`${field}.endPort`, endPort, 'may not be specified when `port` is non-numeric'));
    } else {
      if (endPort < port) {
        found.push(invalidValue(`${field}.endPort`, endPort, 'must be greater than or equal to `port`'));
      }
      found.push(...invalidBy(`${field}.endPort`, endPort, inRange(endPort, 1, 65535)));
    }
  }
  return found;
}

function validatePeer({ podSelector, namespaceSelector, ipBlock }: Peer, field: string): FieldError[] {
  const found = [
    ...validateSelector(podSelector, `${field}.podSelector`),
    ...validateSelector(namespaceSelector, `${field}.namespaceSelector`),
  ];
  if (ipBlock) {
    if (!ipBlock.cidr) found.push(required(`${field}.ipBlock.cidr`));
    else found.push(...validateCidr(`${field}.ipBlock.cidr`, ipBlock.cidr));
    for (const [index, range] of (ipBlock.except ?? []).entries()) {
      found.push(...validateCidr(`${field}.ipBlock.except[${index}]`, range));
    }
  }
  if (!podSelector && !namespaceSelector && !ipBlock) found.push(required(field, 'must specify a peer'));
  else if (ipBlock && (podSelector || namespaceSelector)) {
    found.push(forbiddenField(field, 'may not specify both ipBlock and another peer'));
  }
  return found;
}

function validatePolicy(object: KubeObject): FieldError[] {
  const { podSelector, ingress = [], egress = [], policyTypes = [] } = object.spec as PolicySpec;
  const found = validateSelector(podSelector, 'spec.podSelector');
  const rules = [
    ...ingress.map((rule, index) => ({
      at: `spec.ingress[${index}]`,
      ports: rule.ports,
      peers: rule.from,
      member: 'from',
    })),
    ...egress.map((rule, index) => ({ at: `spec.egress[${index}]`, ports: rule.ports, peers: rule.to, member: 'to' })),
  ];
  for (const { at, ports = [], peers = [], member } of rules) {
    found.push(...ports.flatMap((port, index) => validatePolicyPort(port, `${at}.ports[${index}]`)));
    found.push(...peers.flatMap((peer, index) => validatePeer(peer, `${at}.${member}[${index}]`)));
  }
  if (policyTypes.length > directions.length) {
    return [...found, invalidValue('spec.policyTypes', policyTypes, 'may not specify more than two policyTypes')];
  }
  for (const [index, type] of policyTypes.entries()) {
    if (!directions.includes(type)) found.push(notSupported(`spec.policyTypes[${index}]`, type, directions));
  }
  return found;
}

export const networkingTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'IngressClass',
    plural: 'ingressclasses',
    namespaced: false,
    strategy: {
      defaults(object) {
        const { parameters } = object.spec as ClassSpec;
        if (parameters) parameters.scope ??= 'Cluster';
      },
      validate: validateClass,
      validateUpdate: (object, old) => [
        ...validateClass(object),
        ...immutable('spec.controller', (object.spec as ClassSpec).controller, (old.spec as ClassSpec).controller),
      ],
    },
  }),
  declare(group, {
    kind: 'Ingress',
    plural: 'ingresses',
    shortNames: ['ing'],
    namespaced: true,
    subresources: { status },
    strategy: { ...ownStatus, validate: validateIngress },
  }),
  declare(group, {
    kind: 'IPAddress',
    plural: 'ipaddresses',
    shortNames: ['ip'],
    namespaced: false,
    strategy: {
      generation: false,
      nameRule: (name) => (isAddress(name) ? [] : ['must be a valid IP address in canonical form']),
      validate: ({ spec }) =>
        (spec as { parentRef?: { name?: string } }).parentRef ? [] : [required('spec.parentRef')],
      fields: (object) => {
        const reference = (object.spec as { parentRef?: Record<string, string> }).parentRef ?? {};
        return Object.fromEntries(
          ['group', 'resource', 'name', 'namespace'].map((member) => [
            `spec.parentRef.${member}`,
            reference[member] ?? '',
          ]),
        );
      },
    },
  }),
  declare(group, {
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    shortNames: ['netpol'],
    namespaced: true,
    strategy: {
      defaults(object) {
        const spec = object.spec as PolicySpec;
        spec.policyTypes ??= spec.egress ? ['Ingress', 'Egress'] : ['Ingress'];
        for (const { ports = [] } of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
          for (const port of ports) port.protocol ??= 'TCP';
        }
      },
      validate: validatePolicy,
    },
  }),
  declare(group, {
    kind: 'ServiceCIDR',
    plural: 'servicecidrs',
    namespaced: false,
    subresources: { status },
    strategy: {
      generation: false,
      ...ownStatus,
      validate: ({ spec }) => {
        const { cidrs = [] } = spec as { cidrs?: string[] };
        if (cidrs.length === 0) return [required('spec.cidrs', 'at least one CIDR required')];
        return cidrs.flatMap((range, index) => (isCidr(range) ? [] : validateCidr(`spec.cidrs[${index}]`, range)));
      },
    },
  }),
];
