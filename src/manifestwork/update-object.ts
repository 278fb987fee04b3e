// The Update strategy: what to write so that an object becomes what its manifest says. Pure.
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../arm/record.ts';
import type { OwnerReference, UntypedObject } from '../kube/object.ts';
import { withOwnership } from './ownership.ts';

type Members = Readonly<Record<string, unknown>>;

/** The object to create from a manifest. */
export function newObject(desired: UntypedObject, owner: OwnerReference, owned: boolean): UntypedObject {
  const { status: _, ...content } = desired;
  const references = withOwnership(desired.metadata.ownerReferences, owner, owned);
  return {
    ...content,
    metadata: { ...desired.metadata, ...(references?.length ? { ownerReferences: [...references] } : {}) },
  };
}

/**
 * The object with its metadata merged and everything else replaced by the manifest's; the status, the finalizers and what
 * others fill in (see `kept`) stay. The very object it got when nothing differs.
 */
export function replaced(
  existing: UntypedObject,
  desired: UntypedObject,
  owner: OwnerReference,
  owned: boolean,
): UntypedObject {
  const { metadata: _, status: __, ...content } = desired;
  const next: UntypedObject = { ...kept(existing, content), metadata: mergedMetadata(existing, desired, owner, owned) };
  if (existing.status !== undefined) next.status = existing.status;
  return isDeepStrictEqual(existing, next) ? existing : next;
}

/** As {@link replaced}, but members that the manifest does not have stay: for kinds that refuse to lose what they filled in. */
export function overlaid(
  existing: UntypedObject,
  desired: UntypedObject,
  owner: OwnerReference,
  owned: boolean,
): UntypedObject {
  const { metadata: _, status: __, ...content } = desired;
  const next: UntypedObject = {
    ...(overlay(existing, content) as Members),
    metadata: mergedMetadata(existing, desired, owner, owned),
  };
  return isDeepStrictEqual(existing, next) ? existing : next;
}

/** Whether everything that the manifest says, apart from metadata and status, is so; the object may have more. */
export function covers(existing: UntypedObject, desired: UntypedObject): boolean {
  const { metadata: _, status: __, ...content } = desired;
  return holds(existing, content);
}

/** What is not the metadata and not the status: what a spec's author can change. */
export function contentOf({ metadata: _, status: __, ...content }: UntypedObject): Members {
  return content;
}

function holds(existing: unknown, desired: unknown): boolean {
  if (Array.isArray(desired)) {
    return (
      Array.isArray(existing) &&
      existing.length === desired.length &&
      desired.every((item, at) => holds(existing[at], item))
    );
  }
  if (!isRecord(desired)) return existing === desired || (desired === null && existing === undefined);
  if (!isRecord(existing)) return existing === undefined && Object.keys(desired).length === 0;
  return Object.entries(desired).every(([name, member]) => holds(existing[name], member));
}

function overlay(existing: unknown, desired: unknown): unknown {
  if (!isRecord(desired) || !isRecord(existing)) return desired;
  const members = Object.entries(desired).map(([name, member]) => [
    name,
    holds(existing[name], member) ? existing[name] : overlay(existing[name], member),
  ]);
  return { ...existing, ...Object.fromEntries(members) };
}

/** Labels and annotations of the manifest are set, others stay; one whose name ends in `-` is taken away. */
function mergedMetadata(
  existing: UntypedObject,
  desired: UntypedObject,
  owner: OwnerReference,
  owned: boolean,
): UntypedObject['metadata'] {
  const { ownerReferences: had, ...before } = existing.metadata;
  const others = (desired.metadata.ownerReferences ?? []).filter(
    ({ uid }) => !had?.some((reference) => reference.uid === uid),
  );
  const references = withOwnership([...(had ?? []), ...others], owner, owned) ?? [];
  const labels = mergedMap(existing.metadata.labels, desired.metadata.labels);
  const annotations = mergedMap(existing.metadata.annotations, desired.metadata.annotations);
  return {
    ...before,
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    ...(had || references.length > 0 ? { ownerReferences: [...references] } : {}),
  };
}

function mergedMap(
  existing: Readonly<Record<string, string>> | undefined,
  desired: unknown,
): Record<string, string> | undefined {
  if (!isRecord(desired)) return existing;
  const next: Record<string, string> = { ...existing };
  for (const [name, value] of Object.entries(desired)) {
    if (name.endsWith('-')) delete next[name.slice(0, -1)];
    else next[name] = String(value);
  }
  return existing || Object.keys(next).length > 0 ? next : undefined;
}

/** Per kind: members that other controllers fill in, and that stay where the manifest says nothing about them. */
const filledIn: Readonly<Record<string, (existing: UntypedObject, content: Members) => Members>> = {
  ServiceAccount: (existing, content) => ({
    ...pick(existing, ['secrets', 'imagePullSecrets']),
    ...content,
  }),
  Secret: (existing, content) =>
    existing.type === 'kubernetes.io/service-account-token'
      ? { ...content, data: { ...recordOf(existing.data), ...recordOf(content.data) } }
      : content,
  Namespace: (existing, content) => ({ ...pick(existing, ['spec']), ...content }),
  MutatingWebhookConfiguration: keepBundles,
  ValidatingWebhookConfiguration: keepBundles,
};

function kept(existing: UntypedObject, content: Members): Members {
  const rule = existing.kind === undefined ? undefined : filledIn[existing.kind];
  const filled = rule ? rule(existing, content) : content;
  // `stringData` is written as `data`, and never read.
  if (existing.kind !== 'Secret' || !isRecord(filled.stringData)) return filled;
  const { stringData, ...rest } = filled;
  const encoded = Object.entries(recordOf(stringData)).map(([name, text]) => [
    name,
    Buffer.from(String(text)).toString('base64'),
  ]);
  return { ...rest, data: { ...recordOf(rest.data), ...Object.fromEntries(encoded) } };
}

/** Certificates of webhooks are put in by whoever issues them. */
function keepBundles(existing: UntypedObject, content: Members): Members {
  if (!Array.isArray(content.webhooks)) return content;
  const before: readonly unknown[] = Array.isArray(existing.webhooks) ? existing.webhooks : [];
  const webhooks = content.webhooks.map((hook: unknown) => {
    if (!isRecord(hook)) return hook;
    const config = recordOf(hook.clientConfig);
    const had = before.find((each) => isRecord(each) && each.name === hook.name);
    const caBundle = recordOf(recordOf(had).clientConfig).caBundle;
    return config.caBundle === undefined && caBundle !== undefined
      ? { ...hook, clientConfig: { ...config, caBundle } }
      : hook;
  });
  return { ...content, webhooks };
}

function pick(object: Members, names: readonly string[]): Members {
  return Object.fromEntries(names.flatMap((name) => (object[name] === undefined ? [] : [[name, object[name]]])));
}

function recordOf(value: unknown): Members {
  return isRecord(value) ? value : {};
}
