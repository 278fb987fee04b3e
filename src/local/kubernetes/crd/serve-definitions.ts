// One cluster's definitions put into effect: its table of types follows them at once, their status says so, and the objects of
// one that is deleted go with it. Everything starts from what is stored, so it can be stopped and begun again at any point.
import { isDeepStrictEqual } from 'node:util';
import type { WebhookCaller } from '../admission/webhook-call.ts';
import type { HostedCluster } from '../clusters.ts';
import { serverContext } from '../first-objects.ts';
import type { JsonObject } from '../object.ts';
import type { Change, Entry } from '../objects/objects.ts';
import { timestamp } from '../registry/timestamp.ts';
import { StatusError } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { followApiServices, hasApiServices } from './api-services.ts';
import {
  cleanupFinalizer,
  type Definition,
  type DefinitionNames,
  definitionGroup,
  definitionStorage,
  isTrue,
  withCondition,
} from './definition.ts';
import { conditionsAfter, grantNames, namesInUse } from './names.ts';
import { resourceTypesOf } from './resource-types.ts';
import { type Converter, reviewConverter } from './webhook-conversion.ts';

interface Served {
  readonly group: string;
  /** Names of those that it asks to be served. */
  readonly versions: readonly string[];
  readonly names: DefinitionNames;
  readonly types: readonly ResourceType[];
}

const conversionSeconds = 30;

const noNames: DefinitionNames = { plural: '', kind: '' };

const servedVersions = ({ spec }: Definition): string[] =>
  spec.versions.filter(({ served }) => served).map(({ name }) => name);

const parse = (entry: Entry): Definition => JSON.parse(entry.bytes.toString()) as Definition;

/** What the server may meet when others write or delete at the same time; the change that caused it starts another round. */
const isOvertaken = (error: unknown): boolean =>
  error instanceof StatusError && (error.status.code === 404 || error.status.code === 409);

/** Begins to serve the definitions of a cluster, those that are there and those that come. Gives a function that ends it. */
export function serveDefinitions(cluster: HostedCluster, webhooks?: WebhookCaller): () => void {
  const served = new Map<string, Served>();
  const emptying = new Map<string, () => void>();
  let over = false;

  const services = followApiServices(cluster, () =>
    [...served.values()].flatMap(({ group, versions }) => versions.map((version) => ({ group, version }))),
  );

  function publish(): void {
    cluster.types.setCustom([...served.values()].flatMap(({ types }) => types));
    services.follow();
  }

  function decide(definition: Definition): Definition['status'] {
    const { spec, metadata, status } = definition;
    const others = [...served].filter(([name, { group }]) => name !== metadata.name && group === spec.group);
    const inUse = namesInUse(others.map(([, { names }]) => names));
    const grant = grantNames(spec.names, status?.acceptedNames ?? noNames, inUse);
    return {
      conditions: conditionsAfter(definition, grant, timestamp(cluster.now())),
      acceptedNames: grant.names,
      storedVersions: status?.storedVersions ?? [],
    };
  }

  /** What converts between the versions of a definition; undefined where a webhook has no part in it. */
  function converterOf({ spec }: Definition): Converter | undefined {
    const { strategy, webhook } = spec.conversion ?? {};
    if (strategy !== 'Webhook' || spec.versions.length < 2) return undefined;
    const { clientConfig = {}, conversionReviewVersions = [] } = webhook ?? {};
    return reviewConverter((review) => {
      if (!conversionReviewVersions.includes('v1')) throw new Error('the webhook does not know ConversionReview in v1');
      if (!webhooks) throw new Error('this server calls no webhooks');
      const target = { clientConfig, timeoutSeconds: conversionSeconds };
      return webhooks.post(cluster, target, review as JsonObject, AbortSignal.timeout(conversionSeconds * 1000));
    });
  }

  /** Puts one definition into effect, or out of it. Changes the table before it returns. */
  function take(entry: Entry, follow: boolean): void {
    const definition = parse(entry);
    const status = decide(definition);
    if (!status) return;
    const decided: Definition = { ...definition, status };
    const types = isTrue(decided, 'Established')
      ? resourceTypesOf(decided, status.acceptedNames, converterOf(decided))
      : [];
    served.set(entry.name, {
      group: definition.spec.group,
      versions: servedVersions(definition),
      names: status.acceptedNames,
      types,
    });
    if (follow) publish();
    settle(definition, status);
  }

  function settle(definition: Definition, status: NonNullable<Definition['status']>): void {
    const { conditions, acceptedNames } = definition.status ?? {};
    if (!isDeepStrictEqual([status.conditions, status.acceptedNames], [conditions ?? [], acceptedNames])) {
      run(writeStatus(definition, status));
    } else if (definition.metadata.deletionTimestamp !== undefined) run(clean(definition));
  }

  function run(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!over && !isOvertaken(error)) cluster.log.error({ err: error }, 'a definition could not be put into effect');
    });
  }

  const context = () => serverContext(cluster);
  const ownType = (): ResourceType => {
    const type = cluster.types.find(definitionGroup, 'v1', 'customresourcedefinitions');
    if (!type) throw new Error('definitions of custom resources are not served');
    return type;
  };

  async function writeStatus(definition: Definition, status: NonNullable<Definition['status']>): Promise<void> {
    const name = definition.metadata.name ?? '';
    await cluster.registry.update(context(), ownType(), { namespace: '', name }, { ...definition, status }, 'status');
  }

  /** Deletes the objects of a definition that is on its way out; takes the finalizer away when the last one is gone. */
  async function clean(definition: Definition): Promise<void> {
    const { name = '', finalizers = [] } = definition.metadata;
    if (!finalizers.includes(cleanupFinalizer)) return;
    const [type] = served.get(name)?.types ?? [];
    if (!type) await discard(`${definition.spec.group}/${definition.spec.names.plural}`);
    if (!type || cluster.objects.count(type.storage) === 0) {
      stopEmptying(name);
      await release(definition);
      return;
    }
    const terminating = definition.status?.conditions?.find((condition) => condition.type === 'Terminating');
    if (terminating?.reason !== 'InstanceDeletionInProgress') {
      const conditions = withCondition(
        definition.status?.conditions ?? [],
        {
          type: 'Terminating',
          status: 'True',
          reason: 'InstanceDeletionInProgress',
          message: 'CustomResource deletion is in progress',
        },
        timestamp(cluster.now()),
      );
      const { acceptedNames = noNames, storedVersions = [] } = definition.status ?? {};
      await writeStatus(definition, { conditions, acceptedNames, storedVersions });
      return;
    }
    if (emptying.has(name)) return;
    emptying.set(
      name,
      cluster.objects.watch(type.storage, cluster.objects.revision, () => {
        if (cluster.objects.count(type.storage) > 0) return;
        stopEmptying(name);
        run(release(definition));
      }),
    );
    await cluster.registry.deleteCollection(context(), type, {}, {});
  }

  /** Objects that no version serves any more have nobody to wait for. */
  async function discard(storage: string): Promise<void> {
    if (cluster.objects.count(storage) === 0) return;
    await cluster.objects.commit((transaction) => {
      for (const entry of [...transaction.list(storage)]) transaction.delete(entry);
    });
  }

  function stopEmptying(name: string): void {
    emptying.get(name)?.();
    emptying.delete(name);
  }

  async function release(definition: Definition): Promise<void> {
    const { metadata } = definition;
    const name = metadata.name ?? '';
    await cluster.registry.patch(
      context(),
      ownType(),
      { namespace: '', name },
      {
        type: 'merge',
        body: {
          metadata: { uid: metadata.uid, finalizers: metadata.finalizers?.filter((f) => f !== cleanupFinalizer) },
        },
      },
    );
  }

  function forget(name: string): void {
    stopEmptying(name);
    const gone = served.get(name);
    if (!served.delete(name)) return;
    publish();
    // Names that are free again may be what another one waits for.
    for (const [other, { group, types }] of served) {
      if (group !== gone?.group || types.length > 0) continue;
      const entry = cluster.objects.get(definitionStorage, '', other);
      if (entry) take(entry, true);
    }
  }

  function seen({ kind, entry }: Change): void {
    if (over) return;
    if (kind === 'DELETED') forget(entry.name);
    else take(entry, true);
  }

  // Names once granted stay granted, whatever order they are read in.
  const stored = cluster.objects.list(definitionStorage);
  for (const entry of stored) {
    const definition = parse(entry);
    const { spec, status } = definition;
    served.set(entry.name, {
      group: spec.group,
      versions: servedVersions(definition),
      names: status?.acceptedNames ?? noNames,
      types: [],
    });
  }
  for (const entry of stored) take(entry, false);
  if (served.size > 0) publish();
  else if (hasApiServices(cluster)) services.follow();
  const stop = cluster.objects.watch(definitionStorage, cluster.objects.revision, seen);
  return () => {
    over = true;
    stop();
    services.stop();
    for (const name of [...emptying.keys()]) stopEmptying(name);
  };
}
