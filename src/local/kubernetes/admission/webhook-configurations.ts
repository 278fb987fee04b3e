// Webhooks as clusters declare them, and which requests they want to see.
import { type LabelSelector, selects } from '../access/aggregation.ts';
import type { Cluster } from '../cluster.ts';
import type { KubeObject } from '../object.ts';
import type { Entry } from '../objects/objects.ts';
import type { AdmissionRequest, AdmissionTarget } from '../registry/admission.ts';
import type { ResourceType } from '../types/resource-type.ts';

export interface WebhookRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
}

export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** Base64 of PEM. */
  readonly caBundle?: string;
}

export interface Webhook {
  readonly name: string;
  /** The name of the object that declares it. */
  readonly configuration?: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly WebhookRule[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly reinvocationPolicy?: string;
  readonly matchConditions?: readonly MatchCondition[];
}

export const mutatingStorage = 'admissionregistration.k8s.io/mutatingwebhookconfigurations';
export const validatingStorage = 'admissionregistration.k8s.io/validatingwebhookconfigurations';

const parsed = new WeakMap<Entry, readonly Webhook[]>();

/** A cluster's webhooks of one kind, in the order of their configurations' names. */
export function webhooksOf({ objects }: Cluster, storage: string): Webhook[] {
  return objects.list(storage).flatMap((entry) => {
    let found = parsed.get(entry);
    if (!found) {
      const { webhooks } = JSON.parse(entry.bytes.toString()) as { webhooks?: readonly Webhook[] };
      found = (webhooks ?? []).map((webhook) => ({ ...webhook, configuration: entry.name }));
      parsed.set(entry, found);
    }
    return found;
  });
}

/** What decides about admission is not subject to it, or a cluster could lock itself out for good. */
export const isExempt = ({ group, plural }: ResourceType): boolean =>
  group === 'admissionregistration.k8s.io' && plural !== 'mutatingadmissionpolicies';

/** The type in whose version a rule wants the object: that of the request, or an equivalent one; undefined when none matches. */
export function wantedType(
  rules: readonly WebhookRule[] | undefined,
  matchPolicy: string | undefined,
  target: AdmissionTarget,
  cluster: Cluster,
): ResourceType | undefined {
  const { type } = target;
  if ((rules ?? []).some((rule) => ruleMatches(rule, target, type))) return type;
  if (matchPolicy === 'Exact') return undefined;
  for (const other of cluster.types.all()) {
    const equivalent = other.storage === type.storage && other !== type;
    if (equivalent && (rules ?? []).some((rule) => ruleMatches(rule, target, other))) return other;
  }
  return undefined;
}

const has = (list: readonly string[] | undefined, wanted: string): boolean =>
  list?.includes('*') === true || list?.includes(wanted) === true;

function ruleMatches(rule: WebhookRule, { operation, subresource }: AdmissionTarget, type: ResourceType): boolean {
  if (!has(rule.operations, operation) || !has(rule.apiGroups, type.group) || !has(rule.apiVersions, type.version)) {
    return false;
  }
  const { scope = '*' } = rule;
  if (scope !== '*' && (scope === 'Namespaced') !== type.namespaced) return false;
  return (rule.resources ?? []).some((text) => {
    const [resource = '', sub = ''] = text.split('/', 2);
    return (resource === '*' || resource === type.plural) && (sub === '*' || sub === subresource);
  });
}

/** Whether the labels of the object and of its namespace are those a selector asks for. */
export function labelsMatch(
  selectors: { readonly namespaceSelector?: LabelSelector; readonly objectSelector?: LabelSelector },
  request: AdmissionRequest,
): boolean {
  return selectsObject(selectors.objectSelector, request) && selectsNamespace(selectors.namespaceSelector, request);
}

const isEmpty = (selector: LabelSelector | undefined): boolean =>
  !selector || (Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0);

function selectsObject(selector: LabelSelector | undefined, { object, old }: AdmissionRequest): boolean {
  if (!selector || isEmpty(selector)) return true;
  return [object, old].some((one) => one !== undefined && selects(selector, one.metadata.labels ?? {}));
}

function selectsNamespace(selector: LabelSelector | undefined, request: AdmissionRequest): boolean {
  if (!selector || isEmpty(selector)) return true;
  const { type, namespace, context, object, old } = request;
  if (type.storage === '/namespaces') return selects(selector, (object ?? old)?.metadata.labels ?? {});
  if (!type.namespaced) return true;
  return selects(selector, context.cluster.objects.get('/namespaces', '', namespace)?.labels ?? {});
}

/** An object in the version of another type of the same resource. */
export function convertedTo(from: ResourceType, to: ResourceType, object: KubeObject): KubeObject {
  if (from === to) return object;
  const stored = from.convert?.toStored(object) ?? object;
  const served = to.convert?.toServed(stored) ?? stored;
  return { ...served, apiVersion: to.group ? `${to.group}/${to.version}` : to.version };
}
