// Endpoints: the addresses behind a service.
import type { KubeObject } from '../../object.ts';
import { invalidBy, notSupported, required } from '../../schema/field-errors.ts';
import { dns1123Label, dns1123Subdomain, portNumber } from '../../schema/names.ts';
import type { FieldError } from '../../status.ts';
import { validateAddress, validateReachable } from '../addresses.ts';
import { declare } from '../declare.ts';

interface Address {
  ip: string;
  hostname?: string;
  nodeName?: string;
}

interface Endpoints extends KubeObject {
  subsets?: {
    addresses?: Address[];
    notReadyAddresses?: Address[];
    ports?: { name?: string; port: number; protocol?: string }[];
  }[];
}

const protocols = ['SCTP', 'TCP', 'UDP'];

const validateEntry = ({ ip, hostname, nodeName }: Address, field: string): FieldError[] => [
  ...validateAddress(`${field}.ip`, ip),
  ...(hostname ? invalidBy(`${field}.hostname`, hostname, dns1123Label(hostname)) : []),
  ...(nodeName ? invalidBy(`${field}.nodeName`, nodeName, dns1123Subdomain(nodeName)) : []),
  ...validateReachable(`${field}.ip`, ip),
];

function validate(object: KubeObject): FieldError[] {
  return ((object as Endpoints).subsets ?? []).flatMap((subset, index) => {
    const at = `subsets[${index}]`;
    const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
    const found: FieldError[] =
      addresses.length + notReadyAddresses.length === 0
        ? [required(at, 'must specify `addresses` or `notReadyAddresses`')]
        : [];
    found.push(...addresses.flatMap((address, number) => validateEntry(address, `${at}.addresses[${number}]`)));
    found.push(
      ...notReadyAddresses.flatMap((address, number) => validateEntry(address, `${at}.notReadyAddresses[${number}]`)),
    );
    for (const [number, { name, port, protocol = '' }] of ports.entries()) {
      const here = `${at}.ports[${number}]`;
      if (ports.length > 1 && !name) found.push(required(`${here}.name`));
      else if (name) found.push(...invalidBy(`${here}.name`, name, dns1123Label(name)));
      found.push(...invalidBy(`${here}.port`, port, portNumber(port)));
      if (!protocols.includes(protocol)) found.push(notSupported(`${here}.protocol`, protocol, protocols));
    }
    return found;
  });
}

export const endpoints = declare('', {
  kind: 'Endpoints',
  plural: 'endpoints',
  shortNames: ['ep'],
  namespaced: true,
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  strategy: {
    generation: false,
    defaults(object) {
      for (const { ports = [] } of (object as Endpoints).subsets ?? []) {
        for (const port of ports) port.protocol ||= 'TCP';
      }
    },
    validate,
  },
});
