// A bundle's document, from what a source sent and to what is sent on. Manifests stay text on the way through.
import { Secret } from '../../kit/secret.ts';
import type { ManifestBundle } from '../protocol/manifest-bundle.ts';
import type { SpecMessage } from '../protocol/messages.ts';
import type { BundleDocument } from './documents.ts';

export type SpecPart = Pick<
  BundleDocument,
  | 'manifests'
  | 'options'
  | 'metadata'
  | 'listed'
  | 'eventId'
  | 'eventTime'
  | 'specAt'
  | 'updatedAt'
  | 'pendingFor'
  | 'changed'
> & { readonly logTracing?: string };

/** What a spec event says of a bundle. */
export function specPart(message: SpecMessage, bundle: ManifestBundle, now: string): SpecPart {
  const { manifests, ...options } = bundle;
  const metadata = message.metadata ?? {};
  return {
    eventId: message.id,
    eventTime: message.time ?? now,
    ...(message.logTracing === undefined ? {} : { logTracing: message.logTracing }),
    metadata,
    listed: { source: message.source, consumerName: message.clusterName, labels: metadata.labels ?? {} },
    manifests: new Secret(JSON.stringify(manifests)),
    options,
    specAt: now,
    updatedAt: now,
    pendingFor: message.clusterName,
    changed: 'spec',
  };
}

/** The JSON of the bundle, as spec events carry it. */
export function bundleText({ manifests, options }: Pick<BundleDocument, 'manifests' | 'options'>): string {
  return withMembers(`{"manifests":${manifests.reveal()}}`, JSON.stringify(options));
}

/** The JSON of a status with its bundle, as sources get it. */
export function statusText(body: BundleDocument): string {
  const { conditions, resourceStatus } = body.status ?? { conditions: [], resourceStatus: '[]' };
  return `{"conditions":${JSON.stringify(conditions)},"resourceStatus":${resourceStatus},"manifestBundle":${bundleText(body)}}`;
}

/** Two JSON objects, as text, made one. */
function withMembers(first: string, second: string): string {
  return second === '{}' ? first : `${first.slice(0, -1)},${second.slice(1)}`;
}
