// Whether a bundle's manifests are Kubernetes objects that an agent can apply.
import { isRecord } from '../../arm/record.ts';
import type { Manifest } from '../protocol/manifest-bundle.ts';

const dnsLabel = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const dnsSubdomain = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedPart = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const version = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
/** What an API server sets, or what asks it to choose. */
const forbidden = ['generateName', 'resourceVersion', 'deletionGracePeriodSeconds'] as const;
const maxAnnotationBytes = 256 * 1024;

/** What is wrong with a list of manifests, each with its place; at most ten. Never quotes values. */
export function manifestProblems(manifests: readonly Manifest[]): readonly string[] {
  const problems: string[] = [];
  const seen = new Map<string, number>();
  for (const [at, manifest] of manifests.entries()) {
    if (problems.length >= 10) break;
    const where = `manifests[${at}]`;
    const problem = problemOf(manifest);
    if (problem !== undefined) {
      problems.push(`${where}.${problem}`);
      continue;
    }
    const identity = identityOf(manifest);
    const other = seen.get(identity);
    if (other !== undefined) problems.push(`${where}: the same object as manifests[${other}]`);
    seen.set(identity, at);
  }
  return problems;
}

function identityOf({ apiVersion, kind, metadata }: Manifest): string {
  const { namespace, name } = metadata as { namespace?: unknown; name?: unknown };
  return JSON.stringify([apiVersion, kind, namespace ?? '', name]);
}

function problemOf({ apiVersion, kind, metadata }: Manifest): string | undefined {
  if (typeof apiVersion !== 'string' || !isApiVersion(apiVersion)) return 'apiVersion: it must be an API version';
  if (typeof kind !== 'string' || !/^[A-Za-z][A-Za-z0-9-]{0,62}$/.test(kind)) return 'kind: it must be a kind';
  if (!isRecord(metadata)) return 'metadata: it must be there';
  const { name, namespace = '', labels, annotations, finalizers } = metadata;
  // Names of RBAC objects may hold colons; no name may be more than one segment of a path.
  if (typeof name !== 'string' || name === '' || name.length > 253 || /[/%]|^\.{1,2}$/.test(name)) {
    return 'metadata.name: it must be the name of an object';
  }
  if (namespace !== null && namespace !== '' && !(typeof namespace === 'string' && dnsLabel.test(namespace))) {
    return 'metadata.namespace: it must be a DNS label';
  }
  for (const member of forbidden) {
    if ((metadata[member] ?? '') !== '') return `metadata.${member}: it must not be set`;
  }
  return labelProblem(labels) ?? annotationProblem(annotations) ?? finalizerProblem(finalizers);
}

function isApiVersion(text: string): boolean {
  const [first = '', second, ...more] = text.split('/');
  if (more.length > 0) return false;
  return second === undefined ? version.test(first) : dnsSubdomain.test(first) && version.test(second);
}

export function isQualifiedName(text: string): boolean {
  const [first = '', second, ...more] = text.split('/');
  if (more.length > 0) return false;
  return second === undefined ? qualifiedPart.test(first) : dnsSubdomain.test(first) && qualifiedPart.test(second);
}

export function isLabelValue(text: string): boolean {
  return labelValue.test(text);
}

export function isDnsLabel(text: string): boolean {
  return dnsLabel.test(text);
}

function labelProblem(labels: unknown): string | undefined {
  if (labels === undefined || labels === null) return undefined;
  const fits =
    isRecord(labels) &&
    Object.entries(labels).every(
      ([key, value]) => isQualifiedName(key) && typeof value === 'string' && isLabelValue(value),
    );
  return fits ? undefined : 'metadata.labels: they must be labels';
}

function annotationProblem(annotations: unknown): string | undefined {
  if (annotations === undefined || annotations === null) return undefined;
  if (!isRecord(annotations)) return 'metadata.annotations: they must be annotations';
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    if (!isQualifiedName(key.toLowerCase()) || typeof value !== 'string')
      return 'metadata.annotations: they must be annotations';
    bytes += key.length + Buffer.byteLength(value);
  }
  return bytes > maxAnnotationBytes ? 'metadata.annotations: they are too large' : undefined;
}

function finalizerProblem(finalizers: unknown): string | undefined {
  if (finalizers === undefined || finalizers === null) return undefined;
  const fits =
    Array.isArray(finalizers) && finalizers.every((name) => typeof name === 'string' && isQualifiedName(name));
  return fits ? undefined : 'metadata.finalizers: they must be qualified names';
}
