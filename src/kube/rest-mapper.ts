// Finds the resource of a kind by asking the server, and remembers the answer.
import { isNotFound } from './kube-error.ts';
import { groupPath, groupVersion, type ResourceRef } from './resource.ts';

/** A kind the server does not have, perhaps because its CRD is not installed. */
export class UnknownKindError extends Error {
  constructor(kind: string, where: string) {
    super(`the server has no ${kind} in ${where}; is its CustomResourceDefinition installed?`);
    this.name = 'UnknownKindError';
  }
}

export interface RestMapper {
  /**
   * The resource of a kind, such as `apps/v1` and `Deployment`. Answers come from memory; a kind that is not found there is
   * asked for again, so one whose CRD was installed a moment ago is found. Throws {@link UnknownKindError}.
   */
  forKind(apiVersion: string, kind: string): Promise<ResourceRef>;
  /** As {@link forKind}, in the version that the server prefers. */
  forGroupKind(group: string, kind: string): Promise<ResourceRef>;
  /** Throws away what is remembered. */
  forget(): void;
}

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
}

type Resources = ReadonlyMap<string, ResourceRef>;

/** Unknown kinds of one group are asked for no more often than this. */
const againMs = 1000;

export function createRestMapper(fetch: <T>(path: string) => Promise<T>): RestMapper {
  const known = new Map<string, { readonly resources: Promise<Resources>; readonly at: number }>();

  function resourcesOf(apiVersion: string): { readonly resources: Promise<Resources>; readonly at: number } {
    const resources = fetch<{ readonly resources?: readonly ApiResource[] }>(groupPath(groupVersion(apiVersion))).then(
      (list) => byKind(apiVersion, list.resources ?? []),
    );
    const entry = { resources, at: performance.now() };
    known.set(apiVersion, entry);
    resources.catch(() => {
      if (known.get(apiVersion) === entry) known.delete(apiVersion);
    });
    return entry;
  }

  async function forKind(apiVersion: string, kind: string): Promise<ResourceRef> {
    try {
      const kept = known.get(apiVersion);
      const found = (await kept?.resources)?.get(kind);
      if (found) return found;
      const fresh = kept && performance.now() - kept.at < againMs ? kept : resourcesOf(apiVersion);
      const ref = (await fresh.resources).get(kind);
      if (ref) return ref;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    throw new UnknownKindError(kind, apiVersion);
  }

  return {
    forKind,
    async forGroupKind(group, kind) {
      if (group === '') return forKind('v1', kind);
      let versions: readonly string[];
      try {
        const found = await fetch<{
          readonly preferredVersion?: { readonly groupVersion: string };
          readonly versions?: readonly { readonly groupVersion: string }[];
        }>(`/apis/${encodeURIComponent(group)}`);
        versions = [found.preferredVersion, ...(found.versions ?? [])].flatMap((each) => each?.groupVersion ?? []);
      } catch (error) {
        if (isNotFound(error)) throw new UnknownKindError(kind, group);
        throw error;
      }
      // A group may have a kind in an older version only.
      for (const apiVersion of new Set(versions)) {
        try {
          return await forKind(apiVersion, kind);
        } catch (error) {
          if (!(error instanceof UnknownKindError)) throw error;
        }
      }
      throw new UnknownKindError(kind, group);
    },
    forget: () => known.clear(),
  };
}

function byKind(apiVersion: string, resources: readonly ApiResource[]): Resources {
  const { group, version } = groupVersion(apiVersion);
  const found = new Map<string, ResourceRef>();
  for (const { name, kind, namespaced } of resources) {
    // Subresources have kinds too: `deployments/scale` is a Scale.
    if (name.includes('/') || found.has(kind)) continue;
    found.set(kind, { group, version, plural: name, namespaced, kind });
  }
  return found;
}
