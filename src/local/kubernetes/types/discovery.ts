// Endpoint slices.
import type { KubeObject } from '../object.ts';
import { duplicate, invalidBy, invalidValue, notSupported, required, tooMany } from '../schema/field-errors.ts';
import { dns1123Label, dns1123Subdomain } from '../schema/names.ts';
import type { FieldError } from '../status.ts';
import { isIPv6, validateAddress, validateReachable } from './addresses.ts';
import { declare } from './declare.ts';
import { immutable } from './metadata.ts';
import type { ResourceType } from './resource-type.ts';

interface EndpointSlice extends KubeObject {
  addressType: string;
  endpoints: { addresses: string[] | null; nodeName?: string; hostname?: string }[] | null;
  ports: { name?: string; protocol?: string; port?: number }[] | null;
}

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const mostEndpoints = 1000;
const mostAddresses = 100;

function validateIp(address: string, type: string, field: string, index: number): FieldError[] {
  const at = `${field}[${index}]`;
  const wrong = validateAddress(at, address);
  if (wrong.length > 0) return wrong;
  const fits = (type === 'IPv6') === isIPv6(address);
  return [
    ...(fits ? [] : [invalidValue(field, address, `must be an ${type} address`)]),
    ...validateReachable(at, address),
  ];
}

function validate(object: KubeObject): FieldError[] {
  const { addressType, ports, endpoints } = object as EndpointSlice;
  const found: FieldError[] = [];
  if (!addressType) found.push(required('addressType'));
  else if (!addressTypes.includes(addressType)) found.push(notSupported('addressType', addressType, addressTypes));
  const names = new Set<string>();
  for (const [index, { name = '', protocol = '' }] of (ports ?? []).entries()) {
    const at = `ports[${index}]`;
    if (name) found.push(...invalidBy(`${at}.name`, name, dns1123Label(name)));
    if (names.has(name)) found.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (!protocols.includes(protocol)) found.push(notSupported(`${at}.protocol`, protocol, protocols));
  }
  const all = endpoints ?? [];
  if (all.length > mostEndpoints) return [...found, tooMany('endpoints', all.length, mostEndpoints)];
  for (const [index, { addresses, nodeName, hostname }] of all.entries()) {
    const at = `endpoints[${index}]`;
    const list = addresses ?? [];
    if (list.length === 0) found.push(required(`${at}.addresses`, 'must contain at least 1 address'));
    if (list.length > mostAddresses) found.push(tooMany(`${at}.addresses`, list.length, mostAddresses));
    for (const [number, address] of list.entries()) {
      if (addressType === 'FQDN') {
        found.push(...invalidBy(`${at}.addresses[${number}]`, address, dns1123Subdomain(address)));
      } else if (addressTypes.includes(addressType)) {
        found.push(...validateIp(address, addressType, `${at}.addresses`, number));
      }
    }
    if (nodeName !== undefined) found.push(...invalidBy(`${at}.nodeName`, nodeName, dns1123Subdomain(nodeName)));
    if (hostname !== undefined) found.push(...invalidBy(`${at}.hostname`, hostname, dns1123Label(hostname)));
  }
  return found;
}

export const discoveryTypes: readonly ResourceType[] = [
  declare('discovery.k8s.io', {
    kind: 'EndpointSlice',
    plural: 'endpointslices',
    namespaced: true,
    strategy: {
      defaults(object) {
        for (const port of (object as EndpointSlice).ports ?? []) {
          port.name ??= '';
          port.protocol ??= 'TCP';
        }
      },
      validate,
      validateUpdate: (object, old) => [
        ...validate(object),
        ...immutable('addressType', object.addressType, old.addressType),
      ],
    },
  }),
];
