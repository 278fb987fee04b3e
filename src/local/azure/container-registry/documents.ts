// What a registry holds: repositories, manifests, tags, blobs and uploads under way; one partition for each registry.
import type { Container, Document } from '../../../store/store.ts';
import type { World } from '../kernel/world.ts';
import type { Piece } from '../storage/contents.ts';

export interface RepositoryBody {
  readonly kind: 'repository';
  readonly list: 'repositories';
  readonly name: string;
  readonly created: number;
}

export interface BlobBody {
  readonly kind: 'blob';
  readonly list: 'blobs';
  readonly digest: string;
  readonly length: number;
  readonly pieces: readonly Piece[];
}

/** That a repository has a blob. */
export interface LinkBody {
  readonly kind: 'link';
  /** `links/<repository>`. */
  readonly list: string;
  readonly digest: string;
}

export interface ManifestBody {
  readonly kind: 'manifest';
  /** `manifests/<repository>`. */
  readonly list: string;
  readonly repository: string;
  readonly digest: string;
  readonly mediaType: string;
  readonly artifactType?: string;
  readonly annotations?: { readonly [name: string]: string };
  /** Another manifest that this one is about. */
  readonly subject?: string;
  readonly created: number;
  /** Base64. */
  readonly bytes: string;
  readonly length: number;
}

export interface TagBody {
  readonly kind: 'tag';
  /** `tags/<repository>`. */
  readonly list: string;
  readonly name: string;
  readonly digest: string;
  readonly created: number;
  readonly updated: number;
}

export interface UploadBody {
  readonly kind: 'upload';
  readonly list: 'uploads';
  readonly repository: string;
  readonly pieces: readonly Piece[];
  readonly length: number;
  readonly at: number;
}

export type RegistryBody = RepositoryBody | BlobBody | LinkBody | ManifestBody | TagBody | UploadBody;
export type Documents = Container<RegistryBody>;
export type Kind = RegistryBody['kind'];

const opened = new WeakMap<World, Promise<Documents>>();

export function openDocuments(world: World): Promise<Documents> {
  let documents = opened.get(world);
  if (documents === undefined) {
    documents = world.store.container<RegistryBody>({
      name: 'container_registry_objects',
      indexes: [
        { field: ['list'], type: 'string' },
        { field: ['subject'], type: 'string' },
      ],
    });
    opened.set(world, documents);
  }
  return documents;
}

export const ids = {
  repository: (name: string) => `repository/${name}`,
  blob: (digest: string) => `blob/${digest}`,
  link: (repository: string, digest: string) => `link/${repository}@${digest}`,
  manifest: (repository: string, digest: string) => `manifest/${repository}@${digest}`,
  tag: (repository: string, tag: string) => `tag/${repository}:${tag}`,
  upload: (id: string) => `upload/${id}`,
} as const;

export async function readOne<K extends Kind>(
  documents: Documents,
  registry: string,
  kind: K,
  id: string,
): Promise<Document<Extract<RegistryBody, { kind: K }>> | undefined> {
  const found = await documents.read({ partition: registry, id });
  return found?.body.kind === kind ? { ...found, body: found.body as Extract<RegistryBody, { kind: K }> } : undefined;
}

/** A page of one list, in the order of ids, after one of them. */
export async function readList(
  documents: Documents,
  registry: string,
  list: string,
  limit: number,
  after?: string,
): Promise<readonly Document<RegistryBody>[]> {
  const page = await documents.query({
    partition: registry,
    filter: {
      op: 'and',
      filters: [
        { op: 'eq', field: ['list'], value: list },
        ...(after === undefined ? [] : [{ op: 'gt', field: 'id', value: after } as const]),
      ],
    },
    limit,
  });
  return page.documents;
}
