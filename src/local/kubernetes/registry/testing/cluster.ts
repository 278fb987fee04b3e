// A cluster's registry over objects in memory, without a server, for tests of the verbs.
import type { Cluster } from '../../cluster.ts';
import type { JsonObject, KubeObject } from '../../object.ts';
import type { Objects } from '../../objects/objects.ts';
import { openObjects } from '../../objects/open.ts';
import type { RequestContext } from '../../request-context.ts';
import type { ResourceType } from '../../types/resource-type.ts';
import { createTypeTable } from '../../types/table.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { decode } from '../decode.ts';
import { openRegistry } from '../open-registry.ts';
import type { Registry } from '../registry.ts';

export interface TestCluster {
  readonly objects: Objects;
  readonly registry: Registry;
  readonly context: RequestContext;
  readonly configMaps: ResourceType;
  readonly warnings: string[];
  type(group: string, plural: string): ResourceType;
  create(object: JsonObject, type?: ResourceType): Promise<KubeObject>;
  close(): Promise<void>;
}

export async function openTestCluster(
  options: { readonly plugins?: readonly AdmissionPlugin[]; readonly historyEvents?: number } = {},
): Promise<TestCluster> {
  const { historyEvents } = options;
  const host = await openObjects(historyEvents === undefined ? {} : { historyEvents });
  const objects = host.open('test');
  const types = createTypeTable();
  const registry = openRegistry(objects, () => options.plugins ?? []);
  const warnings: string[] = [];
  const cluster = {
    name: 'test',
    objects,
    types,
    registry,
    now: () => Date.UTC(2024, 0, 1, 12),
  } as unknown as Cluster;
  const context: RequestContext = {
    cluster,
    user: { name: 'tester', groups: ['system:masters'] },
    dryRun: false,
    fieldManager: 'tester',
    fieldValidation: 'Warn',
    warn: (text) => warnings.push(text),
    signal: new AbortController().signal,
  };
  const type = (group: string, plural: string): ResourceType => {
    const found = types.find(group, 'v1', plural);
    if (!found) throw new Error(`there is no type ${plural} of ${group}`);
    return found;
  };
  const create = async (object: JsonObject, of = type('', 'configmaps')): Promise<KubeObject> => {
    const { entry } = await registry.create(context, of, of.namespaced ? 'default' : '', decode(of, object).object);
    return JSON.parse(entry.bytes.toString()) as KubeObject;
  };
  await create({ metadata: { name: 'default' } }, type('', 'namespaces'));
  return {
    objects,
    registry,
    context,
    configMaps: type('', 'configmaps'),
    warnings,
    type,
    create,
    close: () => host.close(),
  };
}
