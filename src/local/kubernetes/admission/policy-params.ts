// The parameters that a binding gives its policy.
import { selects } from '../access/aggregation.ts';
import type { JsonObject } from '../object.ts';
import type { AdmissionRequest } from '../registry/admission.ts';
import type { ParamRef, Policy } from './policy-definitions.ts';

/** A policy or binding that cannot be used as it is. The message is the server's. */
export class ConfigurationError extends Error {}

/**
 * The objects to judge with, each alone: null where a policy has no parameters or its binding gives none, nothing at all where
 * none are found and that is allowed. Throws ConfigurationError.
 */
export function paramsOf(
  policy: Policy,
  ref: ParamRef | undefined,
  request: AdmissionRequest,
): readonly (JsonObject | null)[] {
  if (!policy.paramKind || !ref) return [null];
  const { cluster } = request.context;
  const { apiVersion, kind } = policy.paramKind;
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion];
  const type = cluster.types.findKind(group, version, kind);
  if (!type)
    throw new ConfigurationError(`failed to find resource referenced by paramKind: '${shown(apiVersion, kind)}'`);
  if (!type.namespaced && ref.namespace) {
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const namespace = type.namespaced ? ref.namespace || request.namespace : '';
  if (type.namespaced && namespace === '') {
    throw new ConfigurationError(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    );
  }
  const { name, selector } = ref;
  const entries = name
    ? [cluster.objects.get(type.storage, namespace, name) ?? []].flat()
    : cluster.objects
        .list(type.storage, { namespace })
        .filter(({ labels }) => selector && selects(selector, labels ?? {}));
  if (entries.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return entries.map((entry) => JSON.parse(entry.bytes.toString()) as JsonObject);
}

const shown = (apiVersion: string, kind: string): string =>
  apiVersion.includes('/') ? `${apiVersion}, Kind=${kind}` : `/${apiVersion}, Kind=${kind}`;
