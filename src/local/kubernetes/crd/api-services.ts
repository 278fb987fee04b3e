// The API services of custom resources: one for every version of a group that a definition serves. They come with the first
// definition that needs them and go with the last, and what others change or delete of them is put right.
import { isDeepStrictEqual } from 'node:util';
import type { HostedCluster } from '../clusters.ts';
import { apiServiceGroup, apiServiceName, apiServiceStorage, automanaged } from '../discovery/api-services.ts';
import { serverContext } from '../first-objects.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import type { Entry } from '../objects/objects.ts';
import { StatusError } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** The services of one cluster's definitions. */
export interface ApiServices {
  /** To be called when what is served may have changed. */
  follow(): void;
  stop(): void;
}

const groupPriority = 1000;
const versionPriority = 100;

/** A service of this value is the server's own for as long as its group and version are served. */
const always = 'true';

const specOf = ({ group, version }: GroupVersion): JsonObject => ({
  group,
  version,
  groupPriorityMinimum: groupPriority,
  versionPriority,
});

/** Whether a cluster holds services that were made for definitions. */
export const hasApiServices = (cluster: HostedCluster): boolean => cluster.objects.list(apiServiceStorage).some(isOwn);

/** Keeps the services of a cluster as `served` says. Nothing happens before the first `follow`. */
export function followApiServices(cluster: HostedCluster, served: () => Iterable<GroupVersion>): ApiServices {
  let unwatch: (() => void) | undefined;
  let running = false;
  let again = false;
  let over = false;

  const type = (): ResourceType => {
    const found = cluster.types.find(apiServiceGroup, 'v1', 'apiservices');
    if (!found) throw new Error('API services are not served');
    return found;
  };

  /** What has to be written, each by itself: others may write at the same time. */
  function* missing(): Generator<() => Promise<unknown>> {
    const context = serverContext(cluster);
    const wanted = new Map([...served()].map((one) => [apiServiceName(one.group, one.version), one]));
    for (const [name, one] of wanted) {
      const entry = cluster.objects.get(apiServiceStorage, '', name);
      if (!entry) yield () => cluster.registry.create(context, type(), '', objectOf(name, one));
      else if (isOwn(entry)) {
        const found = JSON.parse(entry.bytes.toString()) as KubeObject;
        if (isDeepStrictEqual(found.spec, specOf(one))) continue;
        const mended = { ...found, spec: specOf(one) };
        yield () => cluster.registry.update(context, type(), { namespace: '', name }, mended);
      }
    }
    for (const entry of cluster.objects.list(apiServiceStorage)) {
      if (!isOwn(entry) || wanted.has(entry.name)) continue;
      const preconditions = { uid: entry.uid };
      yield () => cluster.registry.delete(context, type(), { namespace: '', name: entry.name }, { preconditions });
    }
  }

  async function run(): Promise<void> {
    running = true;
    while (again && !over) {
      again = false;
      for (const write of missing()) {
        try {
          await write();
        } catch (error) {
          if (over) return;
          if (!(error instanceof StatusError)) throw error;
          // Somebody else was quicker, and that is seen too; anything else is a refusal by the cluster's own rules.
          if (error.status.code !== 409 && error.status.code !== 404) {
            cluster.log.warn({ err: error }, 'an API service could not be written');
          }
        }
      }
    }
    running = false;
  }

  function follow(): void {
    // Clusters without custom resources have nobody watching.
    unwatch ??= cluster.objects.watch(apiServiceStorage, cluster.objects.revision, follow);
    again = true;
    if (running || over) return;
    run().catch((error: unknown) => {
      running = false;
      if (!over) cluster.log.error({ err: error }, 'API services could not be kept');
    });
  }

  return {
    follow,
    stop() {
      over = true;
      unwatch?.();
    },
  };
}

const isOwn = ({ labels }: Entry): boolean => labels?.[automanaged] === always;

const objectOf = (name: string, one: GroupVersion): KubeObject => ({
  apiVersion: `${apiServiceGroup}/v1`,
  kind: 'APIService',
  metadata: { name, labels: { [automanaged]: always } },
  spec: specOf(one),
});
