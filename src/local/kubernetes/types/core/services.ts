// Services. Cluster IPs and node ports are given out by admission; what is fixed about them is here.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../object.ts';
import {
  duplicate,
  forbiddenField,
  invalidBy,
  invalidValue,
  notSupported,
  required,
} from '../../schema/field-errors.ts';
import { dns1035Name, dns1123Label, dns1123Subdomain, portNumber, qualifiedName } from '../../schema/names.ts';
import type { FieldError } from '../../status.ts';
import { validateAddress, validateCidr, validateReachable } from '../addresses.ts';
import { action, declare } from '../declare.ts';
import { validateLabels } from '../metadata.ts';
import { validatePort } from '../pod/validate-container.ts';
import { ownStatus, status } from '../status.ts';

interface ServicePort {
  name?: string;
  protocol?: string;
  port: number;
  targetPort?: number | string;
  nodePort?: number;
  appProtocol?: string;
}

interface ServiceSpec {
  type?: string;
  ports?: ServicePort[];
  selector?: Record<string, string>;
  clusterIP?: string;
  clusterIPs?: string[];
  externalName?: string;
  externalIPs?: string[];
  externalTrafficPolicy?: string;
  internalTrafficPolicy?: string;
  sessionAffinity?: string;
  sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
  ipFamilies?: string[];
  ipFamilyPolicy?: string;
  loadBalancerSourceRanges?: string[];
  allocateLoadBalancerNodePorts?: boolean;
  healthCheckNodePort?: number;
}

const specOf = (object: KubeObject): ServiceSpec => object.spec as ServiceSpec;
const isHeadless = ({ clusterIP }: ServiceSpec): boolean => clusterIP === 'None';
const hasNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer';
const isExternal = (spec: ServiceSpec): boolean =>
  hasNodePorts(spec) || (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);

const protocols = ['SCTP', 'TCP', 'UDP'];
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const affinities = ['ClientIP', 'None'];
const policies = ['Cluster', 'Local'];
const oneDaySeconds = 86_400;

function validatePorts(spec: ServiceSpec): FieldError[] {
  const ports = spec.ports ?? [];
  const names = new Set<string>();
  const found: FieldError[] = [];
  for (const [index, port] of ports.entries()) {
    const at = `spec.ports[${index}]`;
    if (ports.length > 1 && !port.name) found.push(required(`${at}.name`));
    else if (port.name) {
      found.push(...invalidBy(`${at}.name`, port.name, dns1123Label(port.name)));
      if (names.has(port.name)) found.push(duplicate(`${at}.name`, port.name));
      names.add(port.name);
    }
    found.push(...invalidBy(`${at}.port`, port.port, portNumber(port.port)));
    if (!protocols.includes(port.protocol ?? '')) found.push(notSupported(`${at}.protocol`, port.protocol, protocols));
    found.push(...validatePort(`${at}.targetPort`, port.targetPort ?? 0));
    if (port.appProtocol)
      found.push(...invalidBy(`${at}.appProtocol`, port.appProtocol, qualifiedName(port.appProtocol)));
  }
  return found;
}

/** Ports may not be asked for twice, and node ports not where there are none. */
function validatePortUse(spec: ServiceSpec): FieldError[] {
  const found: FieldError[] = [];
  const nodePorts = new Set<string>();
  const taken = new Set<string>();
  for (const [index, { port, protocol = '', nodePort }] of (spec.ports ?? []).entries()) {
    if (spec.type === 'ClusterIP' && nodePort) {
      found.push(forbiddenField(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
    }
    if (nodePort) {
      const key = `${protocol}/${nodePort}`;
      if (nodePorts.has(key)) found.push(duplicate(`spec.ports[${index}].nodePort`, nodePort));
      nodePorts.add(key);
    }
    const key = `${protocol}/${port}`;
    if (taken.has(key)) {
      found.push(
        duplicate(`spec.ports[${index}]`, {
          Name: '',
          Protocol: protocol,
          AppProtocol: null,
          Port: port,
          TargetPort: 0,
          NodePort: 0,
        }),
      );
    }
    taken.add(key);
  }
  return found;
}

function validateClusterAddresses(spec: ServiceSpec): FieldError[] {
  if (spec.type === 'ExternalName') return [];
  const found: FieldError[] = [];
  const addresses = spec.clusterIPs ?? [];
  if (spec.clusterIP) {
    if (addresses.length === 0) found.push(required('spec.clusterIPs'));
    else if (addresses[0] !== spec.clusterIP) {
      found.push(invalidValue('spec.clusterIPs', addresses, 'first value must match `clusterIP`'));
    }
  } else if (addresses.length > 0) {
    found.push(invalidValue('spec.clusterIPs', addresses, 'must be empty when `clusterIP` is not specified'));
  }
  const families = spec.ipFamilies ?? [];
  for (const [index, family] of families.entries()) {
    const at = `spec.ipFamilies[${index}]`;
    if (!['IPv4', 'IPv6'].includes(family)) found.push(notSupported(at, family, ['IPv4', 'IPv6']));
    if (families.indexOf(family) < index) found.push(duplicate(at, family));
  }
  const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
  if (spec.ipFamilyPolicy && !familyPolicies.includes(spec.ipFamilyPolicy)) {
    found.push(notSupported('spec.ipFamilyPolicy', spec.ipFamilyPolicy, familyPolicies));
  }
  for (const [index, address] of addresses.entries()) {
    if (index === 0 && address === 'None') {
      if (addresses.length > 1) {
        found.push(invalidValue('spec.clusterIPs', addresses, "'None' must be the first and only value"));
      }
    } else found.push(...validateAddress(`spec.clusterIPs[${index}]`, address));
  }
  if (addresses.length > 2) found.push(invalidValue('spec.clusterIPs', addresses, 'may only hold up to 2 values'));
  return found;
}

function validateByType(spec: ServiceSpec): FieldError[] {
  const found: FieldError[] = [];
  if ((spec.ports ?? []).length === 0 && !isHeadless(spec) && spec.type !== 'ExternalName') {
    found.push(required('spec.ports'));
  }
  if (hasNodePorts(spec) && isHeadless(spec)) {
    found.push(
      invalidValue('spec.clusterIPs[0]', spec.clusterIP, `may not be set to 'None' for ${spec.type} services`),
    );
  }
  if (spec.type === 'ExternalName') {
    if ((spec.clusterIPs ?? []).length > 0) {
      found.push(forbiddenField('spec.clusterIPs', 'may not be set for ExternalName services'));
    }
    if (spec.externalName) {
      const name = spec.externalName.replace(/\.$/, '');
      found.push(...invalidBy('spec.externalName', name, dns1123Subdomain(name)));
    } else found.push(required('spec.externalName'));
  }
  return found;
}

function validateTraffic(spec: ServiceSpec): FieldError[] {
  const found: FieldError[] = [];
  const external = spec.externalTrafficPolicy ?? '';
  if (!isExternal(spec)) {
    if (external) {
      found.push(
        invalidValue('spec.externalTrafficPolicy', external, 'may only be set for externally-accessible services'),
      );
    }
  } else if (!external) found.push(required('spec.externalTrafficPolicy'));
  else if (!policies.includes(external)) found.push(notSupported('spec.externalTrafficPolicy', external, policies));
  const internal = spec.internalTrafficPolicy;
  if (internal !== undefined && !policies.includes(internal)) {
    found.push(notSupported('spec.internalTrafficPolicy', internal, policies));
  }
  return found;
}

function validate(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const found = [...validateByType(spec), ...validatePorts(spec), ...validateLabels(spec.selector, 'spec.selector')];
  if (!affinities.includes(spec.sessionAffinity ?? '')) {
    found.push(notSupported('spec.sessionAffinity', spec.sessionAffinity, affinities));
  }
  const timeout = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (timeout !== undefined && (timeout <= 0 || timeout > oneDaySeconds)) {
    found.push(
      invalidValue(
        'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
        timeout,
        `must be greater than 0 and less than or equal to ${oneDaySeconds}`,
      ),
    );
  }
  found.push(...validateClusterAddresses(spec));
  for (const [index, address] of (spec.externalIPs ?? []).entries()) {
    const at = `spec.externalIPs[${index}]`;
    const wrong = validateAddress(at, address);
    found.push(...(wrong.length > 0 ? wrong : validateReachable(at, address)));
  }
  if (!types.includes(spec.type ?? '')) found.push(notSupported('spec.type', spec.type, types));
  found.push(...validatePortUse(spec));
  for (const [index, range] of (spec.loadBalancerSourceRanges ?? []).entries()) {
    if (spec.type !== 'LoadBalancer') {
      found.push(forbiddenField('spec.LoadBalancerSourceRanges', "may only be used when `type` is 'LoadBalancer'"));
      break;
    }
    found.push(...validateCidr(`spec.LoadBalancerSourceRanges[${index}]`, range.trim()));
  }
  return [...found, ...validateTraffic(spec)];
}

/** The addresses of a service do not change, but for becoming an external name and back. */
function validateAddressChange(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName' || (isHeadless(spec) && isHeadless(old))) return [];
  const before = old.clusterIPs ?? [];
  const after = spec.clusterIPs ?? [];
  if (before.length > 0 && after.length === 0) {
    return [invalidValue('spec.clusterIPs[0]', after, 'primary clusterIP can not be unset')];
  }
  return before
    .slice(0, before.length === after.length ? undefined : 1)
    .flatMap((address, index) =>
      address === after[index] ? [] : [invalidValue(`spec.clusterIPs[${index}]`, after, 'may not change once set')],
    );
}

/** What was given out stays when an update does not mention it. */
function keepAllocated(spec: ServiceSpec, old: ServiceSpec): void {
  const needsAddress = (each: ServiceSpec): boolean => each.type !== 'ExternalName';
  if (needsAddress(spec) && needsAddress(old)) {
    if (!spec.clusterIP && !spec.clusterIPs?.length && old.clusterIP) {
      spec.clusterIP = old.clusterIP;
      if (old.clusterIPs) spec.clusterIPs = old.clusterIPs;
    }
    if (!spec.ipFamilies?.length && old.ipFamilies) spec.ipFamilies = old.ipFamilies;
    if (!spec.ipFamilyPolicy && old.ipFamilyPolicy) spec.ipFamilyPolicy = old.ipFamilyPolicy;
  }
  if (hasNodePorts(spec) && hasNodePorts(old)) {
    const used = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort));
    for (const port of spec.ports ?? []) {
      if (port.nodePort) continue;
      const before = old.ports?.find((each) => each.port === port.port && each.protocol === port.protocol);
      if (before?.nodePort && !used.has(before.nodePort)) port.nodePort = before.nodePort;
    }
  }
  if (spec.externalTrafficPolicy === 'Local' && !spec.healthCheckNodePort && old.healthCheckNodePort) {
    spec.healthCheckNodePort = old.healthCheckNodePort;
  }
}

/** The list of addresses has the one that older clients give alone. The server adds it, so that nobody owns the list. */
function listAddress(spec: ServiceSpec, old?: ServiceSpec): void {
  if (!spec.clusterIP) return;
  if (!spec.clusterIPs) spec.clusterIPs = [spec.clusterIP];
  else if (old?.clusterIP && old.clusterIP !== spec.clusterIP && isDeepStrictEqual(spec.clusterIPs, old.clusterIPs)) {
    spec.clusterIPs = [spec.clusterIP, ...spec.clusterIPs.slice(1)];
  }
}

/** Which families a service's addresses are of: this is a cluster of IPv4. */
function setFamilies(spec: ServiceSpec): void {
  if (spec.type === 'ExternalName') return;
  const open = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= open ? 'RequireDualStack' : 'SingleStack';
  spec.ipFamilies ??= spec.ipFamilyPolicy === 'RequireDualStack' ? ['IPv4', 'IPv6'] : ['IPv4'];
}

export const services = declare('', {
  kind: 'Service',
  plural: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  subresources: {
    proxy: action(['create', 'delete', 'get', 'patch', 'update'], 'ServiceProxyOptions'),
    status,
  },
  strategy: {
    generation: false,
    nameRule: dns1035Name,
    defaults(object) {
      const spec = specOf(object);
      spec.type ||= 'ClusterIP';
      spec.sessionAffinity ||= 'None';
      if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
      if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
        spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10_800 } };
      }
      for (const port of spec.ports ?? []) {
        port.protocol ||= 'TCP';
        port.targetPort ||= port.port;
      }
      if (isExternal(spec)) spec.externalTrafficPolicy ||= 'Cluster';
      if (spec.type !== 'ExternalName') spec.internalTrafficPolicy ??= 'Cluster';
      if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
    },
    prepareCreate(object) {
      ownStatus.prepareCreate(object);
      listAddress(specOf(object));
      setFamilies(specOf(object));
    },
    prepareUpdate(object, old) {
      ownStatus.prepareUpdate(object, old);
      keepAllocated(specOf(object), specOf(old));
      listAddress(specOf(object), specOf(old));
    },
    validate,
    validateUpdate: (object, old) => [...validateAddressChange(specOf(object), specOf(old)), ...validate(object)],
    fields(object) {
      const spec = specOf(object);
      return { 'spec.clusterIP': spec.clusterIP ?? '', 'spec.type': spec.type ?? '' };
    },
  },
});
