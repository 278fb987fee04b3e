// What a container must look like, in a pod and in a template.
import {
  duplicate,
  forbiddenField,
  invalidBy,
  invalidValue,
  notFoundValue,
  notSupported,
  required,
} from '../../schema/field-errors.ts';
import {
  configMapKey,
  dns1123Label,
  dns1123Subdomain,
  environmentName,
  httpHeaderName,
  inRange,
  portName,
  portNumber,
  userId,
} from '../../schema/names.ts';
import type { FieldError } from '../../status.ts';
import type { Container, ContainerPort, EnvVar, Handler, PodSpec, Probe, VolumeMount } from './pod-spec.ts';
import { validateContainerResources } from './validate-resources.ts';

const protocols = ['SCTP', 'TCP', 'UDP'];

/** A port by number or by name. */
export const validatePort = (field: string, port: number | string): FieldError[] =>
  invalidBy(field, port, typeof port === 'number' ? portNumber(port) : portName(port));

function validatePorts(ports: readonly ContainerPort[], field: string): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `${field}[${index}]`;
    const found: FieldError[] = [];
    if (port.name) {
      const wrong = portName(port.name);
      if (wrong.length > 0) found.push(...invalidBy(`${at}.name`, port.name, wrong));
      else if (names.has(port.name)) found.push(duplicate(`${at}.name`, port.name));
      else names.add(port.name);
    }
    if (!port.containerPort) found.push(required(`${at}.containerPort`));
    else found.push(...invalidBy(`${at}.containerPort`, port.containerPort, portNumber(port.containerPort)));
    if (port.hostPort) found.push(...invalidBy(`${at}.hostPort`, port.hostPort, portNumber(port.hostPort)));
    if (!protocols.includes(port.protocol ?? '')) found.push(notSupported(`${at}.protocol`, port.protocol, protocols));
    return found;
  });
}

/** What the downward API offers to environment variables. */
const environmentFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const subscripted = /^metadata\.(labels|annotations)\['(.*)'\]$/;

function validateFieldRef(
  { apiVersion, fieldPath }: { apiVersion?: string; fieldPath: string },
  field: string,
): FieldError[] {
  if (!apiVersion) return [required(`${field}.apiVersion`)];
  if (!fieldPath) return [required(`${field}.fieldPath`)];
  if (subscripted.test(fieldPath) || environmentFields.includes(fieldPath)) return [];
  return [
    invalidValue(
      `${field}.fieldPath`,
      fieldPath,
      `error converting fieldPath: field label not supported: ${fieldPath}`,
    ),
  ];
}

function validateKeyRef({ name = '', key }: { name?: string; key: string }, field: string): FieldError[] {
  const found = invalidBy(`${field}.name`, name, dns1123Subdomain(name));
  if (!key) return [...found, required(`${field}.key`)];
  return [...found, ...invalidBy(`${field}.key`, key, configMapKey(key))];
}

function validateEnvironment(variables: readonly EnvVar[], field: string): FieldError[] {
  return variables.flatMap(({ name, value, valueFrom }, index) => {
    const at = `${field}[${index}]`;
    const found = name ? invalidBy(`${at}.name`, name, environmentName(name)) : [required(`${at}.name`)];
    if (!valueFrom) return found;
    const from = `${at}.valueFrom`;
    if (valueFrom.fieldRef) found.push(...validateFieldRef(valueFrom.fieldRef, `${from}.fieldRef`));
    if (valueFrom.configMapKeyRef) found.push(...validateKeyRef(valueFrom.configMapKeyRef, `${from}.configMapKeyRef`));
    if (valueFrom.secretKeyRef) found.push(...validateKeyRef(valueFrom.secretKeyRef, `${from}.secretKeyRef`));
    if (valueFrom.resourceFieldRef && !valueFrom.resourceFieldRef.resource) {
      found.push(required(`${from}.resourceFieldRef.resource`));
    }
    const sources = Object.keys(valueFrom).length;
    if (sources === 0) {
      found.push(
        invalidValue(
          from,
          '',
          'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
        ),
      );
    } else if (value) found.push(invalidValue(from, '', 'may not be specified when `value` is not empty'));
    else if (sources > 1) found.push(invalidValue(from, '', 'may not have more than one field specified at a time'));
    return found;
  });
}

function validateEnvironmentFrom(sources: NonNullable<Container['envFrom']>, field: string): FieldError[] {
  return sources.flatMap(({ prefix, configMapRef, secretRef }, index) => {
    const at = `${field}[${index}]`;
    const found = prefix ? invalidBy(`${at}.prefix`, prefix, environmentName(prefix)) : [];
    for (const [member, reference] of [
      ['configMapRef', configMapRef],
      ['secretRef', secretRef],
    ] as const) {
      if (!reference) continue;
      if (reference.name)
        found.push(...invalidBy(`${at}.${member}.name`, reference.name, dns1123Subdomain(reference.name)));
      else found.push(required(`${at}.${member}.name`));
    }
    if (!configMapRef && !secretRef) {
      found.push(invalidValue(field, '', 'must specify one of: `configMapRef` or `secretRef`'));
    } else if (configMapRef && secretRef) {
      found.push(invalidValue(field, '', 'may not have more than one field specified at a time'));
    }
    return found;
  });
}

/** A relative path that does not leave its folder. */
export function validateLocalPath(path: string, field: string): FieldError[] {
  if (path.startsWith('/')) return [invalidValue(field, path, 'must be a relative path')];
  return path.split('/').includes('..') ? [invalidValue(field, path, "must not contain '..'")] : [];
}

function validateMounts(
  mounts: readonly VolumeMount[],
  volumes: ReadonlySet<string>,
  container: Container,
  field: string,
): FieldError[] {
  const paths = new Set<string>();
  return mounts.flatMap((mount, index) => {
    const at = `${field}[${index}]`;
    const found: FieldError[] = [];
    if (!mount.name) found.push(required(`${at}.name`));
    if (!volumes.has(mount.name)) found.push(notFoundValue(`${at}.name`, mount.name));
    if (!mount.mountPath) found.push(required(`${at}.mountPath`));
    if (paths.has(mount.mountPath)) found.push(invalidValue(`${at}.mountPath`, mount.mountPath, 'must be unique'));
    paths.add(mount.mountPath);
    if (mount.subPath) found.push(...validateLocalPath(mount.subPath, `${field}.subPath`));
    if (mount.subPathExpr) {
      if (mount.subPath) {
        found.push(
          invalidValue(`${at}.subPathExpr`, mount.subPathExpr, 'subPathExpr and subPath are mutually exclusive'),
        );
      }
      found.push(...validateLocalPath(mount.subPathExpr, `${field}.subPathExpr`));
    }
    if (mount.mountPropagation !== undefined) {
      const supported = ['Bidirectional', 'HostToContainer', 'None'];
      const propagation = `${field}.mountPropagation`;
      if (!supported.includes(mount.mountPropagation)) {
        found.push(notSupported(propagation, mount.mountPropagation, supported));
      } else if (mount.mountPropagation === 'Bidirectional' && !container.securityContext?.privileged) {
        found.push(
          forbiddenField(propagation, 'Bidirectional mount propagation is available only to privileged containers'),
        );
      }
    }
    return found;
  });
}

const handlerKinds = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

function validateHandler(handler: Handler, field: string): FieldError[] {
  const [first, ...others] = handlerKinds.filter((kind) => handler[kind] !== undefined);
  if (!first) return [required(field, 'must specify a handler type')];
  const found: FieldError[] = [];
  const at = `${field}.${first}`;
  if (first === 'exec' && !handler.exec?.command?.length) found.push(required(`${at}.command`));
  if (first === 'httpGet' && handler.httpGet) {
    const { path, port, scheme, httpHeaders } = handler.httpGet;
    if (!path) found.push(required(`${at}.path`));
    found.push(...validatePort(`${at}.port`, port));
    if (!['HTTP', 'HTTPS'].includes(scheme ?? '')) found.push(notSupported(`${at}.scheme`, scheme, ['HTTP', 'HTTPS']));
    for (const { name } of httpHeaders ?? []) {
      found.push(...invalidBy(`${at}.httpHeaders`, name, httpHeaderName(name)));
    }
  }
  if (first === 'tcpSocket' && handler.tcpSocket) found.push(...validatePort(`${at}.port`, handler.tcpSocket.port));
  if (first === 'grpc' && handler.grpc) found.push(...validatePort(`${at}.port`, handler.grpc.port));
  for (const kind of others) found.push(forbiddenField(`${field}.${kind}`, 'may not specify more than 1 handler type'));
  return found;
}

const probeNumbers = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function validateProbe(probe: Probe | undefined, field: string, onlyOneSuccess: boolean): FieldError[] {
  if (!probe) return [];
  const found = validateHandler(probe, field);
  for (const member of probeNumbers) {
    const value = probe[member];
    if (value !== undefined && value < 0) {
      found.push(invalidValue(`${field}.${member}`, value, 'must be greater than or equal to 0'));
    }
  }
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && (onlyOneSuccess ? grace <= 0 : true)) {
    found.push(
      onlyOneSuccess
        ? invalidValue(`${field}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')
        : invalidValue(`${field}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes'),
    );
  }
  if (onlyOneSuccess && probe.successThreshold !== 1) {
    found.push(invalidValue(`${field}.successThreshold`, probe.successThreshold, 'must be 1'));
  }
  return found;
}

function validateSecurity(context: Container['securityContext'], field: string): FieldError[] {
  if (!context) return [];
  const found: FieldError[] = [];
  for (const member of ['runAsUser', 'runAsGroup'] as const) {
    const id = context[member];
    if (id !== undefined) found.push(...invalidBy(`${field}.${member}`, id, userId(id)));
  }
  if (context.allowPrivilegeEscalation === false) {
    const refuse = (detail: string): FieldError =>
      invalidValue(field, context, `cannot set \`allowPrivilegeEscalation\` to false and ${detail}`);
    if (context.privileged) found.push(refuse('`privileged` to true'));
    if (context.capabilities?.add?.includes('CAP_SYS_ADMIN')) found.push(refuse('`capabilities.Add` CAP_SYS_ADMIN'));
  }
  return found;
}

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const messagePolicies = ['File', 'FallbackToLogsOnError'];

function validateCommon(container: Container, volumes: ReadonlySet<string>, field: string): FieldError[] {
  const { name, image, terminationMessagePolicy, imagePullPolicy } = container;
  const found: FieldError[] = name ? invalidBy(`${field}.name`, name, dns1123Label(name)) : [required(`${field}.name`)];
  if (!image) found.push(required(`${field}.image`));
  if (!messagePolicies.includes(terminationMessagePolicy ?? '')) {
    found.push(notSupported(`${field}.terminationMessagePolicy`, terminationMessagePolicy, messagePolicies));
  }
  found.push(
    ...validatePorts(container.ports ?? [], `${field}.ports`),
    ...validateEnvironment(container.env ?? [], `${field}.env`),
    ...validateEnvironmentFrom(container.envFrom ?? [], `${field}.envFrom`),
    ...validateMounts(container.volumeMounts ?? [], volumes, container, `${field}.volumeMounts`),
  );
  if (!pullPolicies.includes(imagePullPolicy ?? '')) {
    found.push(notSupported(`${field}.imagePullPolicy`, imagePullPolicy, pullPolicies));
  }
  found.push(
    ...validateContainerResources(container.resources, `${field}.resources`),
    ...validateSecurity(container.securityContext, `${field}.securityContext`),
  );
  return found;
}

function validateLife(container: Container, field: string): FieldError[] {
  const { lifecycle } = container;
  return [
    ...(lifecycle?.postStart ? validateHandler(lifecycle.postStart, `${field}.lifecycle.postStart`) : []),
    ...(lifecycle?.preStop ? validateHandler(lifecycle.preStop, `${field}.lifecycle.preStop`) : []),
    ...validateProbe(container.livenessProbe, `${field}.livenessProbe`, true),
    ...validateProbe(container.readinessProbe, `${field}.readinessProbe`, false),
    ...validateProbe(container.startupProbe, `${field}.startupProbe`, true),
  ];
}

function validateHostPorts(containers: readonly Container[], field: string): FieldError[] {
  const taken = new Set<string>();
  return containers.flatMap(({ ports = [] }, container) =>
    ports.flatMap(({ hostPort, hostIP = '', protocol = '' }, index) => {
      if (!hostPort) return [];
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(key)) return [duplicate(`${field}[${container}].ports[${index}].hostPort`, key)];
      taken.add(key);
      return [];
    }),
  );
}

/** The containers of a spec, the init and ephemeral ones included. `volumes` are the names that may be mounted. */
export function validateContainers(spec: PodSpec, volumes: ReadonlySet<string>, field: string): FieldError[] {
  const containers = spec.containers ?? [];
  if (containers.length === 0) return [required(`${field}.containers`)];
  const names = new Set<string>();
  const found: FieldError[] = [];
  for (const [index, container] of containers.entries()) {
    const at = `${field}.containers[${index}]`;
    found.push(...validateCommon(container, volumes, at));
    if (names.has(container.name)) found.push(duplicate(`${at}.name`, container.name));
    names.add(container.name);
    found.push(...validateLife(container, at));
    if (container.restartPolicy !== undefined) {
      found.push(forbiddenField(`${at}.restartPolicy`, 'may not be set for non-init containers'));
    }
  }
  found.push(...validateHostPorts(containers, `${field}.containers`));
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    const at = `${field}.initContainers[${index}]`;
    found.push(...validateCommon(container, volumes, at));
    const sidecar = container.restartPolicy === 'Always';
    if (container.restartPolicy !== undefined && !sidecar) {
      found.push(notSupported(`${at}.restartPolicy`, container.restartPolicy, ['Always']));
    }
    if (names.has(container.name)) found.push(duplicate(`${at}.name`, container.name));
    names.add(container.name);
    if (sidecar) found.push(...validateLife(container, at));
    else {
      for (const member of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
        if (container[member]) {
          found.push(
            forbiddenField(`${at}.${member}`, 'may not be set for init containers without restartPolicy=Always'),
          );
        }
      }
    }
  }
  for (const [index, container] of (spec.ephemeralContainers ?? []).entries()) {
    const at = `${field}.ephemeralContainers[${index}]`;
    found.push(...validateCommon({ ...container, resources: container.resources ?? {} }, volumes, at));
    if (names.has(container.name)) found.push(duplicate(`${at}.name`, container.name));
    names.add(container.name);
  }
  return found;
}

/** Seconds after which a pod is ended, whatever it does. */
export const validateDeadline = (seconds: number | undefined, field: string): FieldError[] =>
  seconds === undefined ? [] : invalidBy(field, seconds, inRange(seconds, 1, 2147483647));
