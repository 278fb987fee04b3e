// A cluster in memory with the whole admission chain, for tests of its plugins through the real registry.
import { randomBytes } from 'node:crypto';
import { createLogger } from '../../../../kit/log.ts';
import { Secret } from '../../../../kit/secret.ts';
import type { User } from '../../access/user.ts';
import { createClusters, type HostedCluster } from '../../clusters.ts';
import { serverContext } from '../../first-objects.ts';
import type { JsonObject, KubeObject } from '../../object.ts';
import { openObjects } from '../../objects/open.ts';
import type { PatchType } from '../../registry/registry.ts';
import { StatusError } from '../../status.ts';
import type { ResourceType } from '../../types/resource-type.ts';
import type { WebhookCaller } from '../webhook-call.ts';

export interface AdmittedCluster {
  readonly cluster: HostedCluster;
  readonly warnings: string[];
  /** What admission noted for the audit log. */
  readonly notes: Record<string, string>;
  /** Creates an object and gives it back as stored. `kind` is `group/version/plural`, such as `/v1/pods`. */
  create(kind: string, namespace: string, object: JsonObject, as?: Asking): Promise<KubeObject>;
  patch(
    kind: string,
    namespace: string,
    name: string,
    patch: JsonObject,
    as?: Asking & { subresource?: string },
  ): Promise<KubeObject>;
  remove(kind: string, namespace: string, name: string): Promise<void>;
  get(kind: string, namespace: string, name: string): KubeObject | undefined;
}

export interface Asking {
  readonly user?: User;
  readonly dryRun?: boolean;
}

const logger = createLogger({ service: 'test', level: 'silent' });

export async function admittedCluster(options: { readonly webhooks?: WebhookCaller } = {}): Promise<AdmittedCluster> {
  const clusters = createClusters({
    host: await openObjects(),
    logger,
    suffix: 'test',
    hostKey: new Secret(randomBytes(32)),
    address: () => ({ host: '192.0.2.10', port: 6443 }),
    hooks: {},
    ...options,
  });
  const cluster = clusters.create('c');
  await cluster.firstUse();
  const warnings: string[] = [];
  const notes: Record<string, string> = {};
  const annotate = (key: string, value: string): void => {
    notes[key] = value;
  };
  const context = ({ user, dryRun = false }: Asking = {}): ReturnType<typeof serverContext> => {
    const own = serverContext(cluster, 'test');
    return { ...own, user: user ?? own.user, dryRun, annotate, warn: (text) => warnings.push(text) };
  };
  const typeOf = (kind: string): ResourceType => {
    const [group = '', version = '', plural = ''] = kind.split('/');
    const type = cluster.types.find(group, version, plural);
    if (!type) throw new Error(`no type ${kind}`);
    return type;
  };
  const get = (kind: string, namespace: string, name: string): KubeObject | undefined => {
    const entry = cluster.objects.get(typeOf(kind).storage, namespace, name);
    return entry && (JSON.parse(entry.bytes.toString()) as KubeObject);
  };
  return {
    cluster,
    warnings,
    notes,
    get,
    async create(kind, namespace, sent, as) {
      const type = typeOf(kind);
      const whole = {
        apiVersion: type.group ? `${type.group}/${type.version}` : type.version,
        kind: type.kind,
        ...sent,
      };
      const { object } = type.strategy.decode?.(whole) ?? { object: whole as unknown as KubeObject };
      const { entry } = await cluster.registry.create(context(as), type, namespace, object);
      return JSON.parse(entry.bytes.toString()) as KubeObject;
    },
    async patch(kind, namespace, name, body, as = {}) {
      const patch = { type: 'merge' as PatchType, body };
      const { entry } = await cluster.registry.patch(
        context(as),
        typeOf(kind),
        { namespace, name },
        patch,
        as.subresource,
      );
      return JSON.parse(entry.bytes.toString()) as KubeObject;
    },
    async remove(kind, namespace, name) {
      await cluster.registry.delete(context(), typeOf(kind), { namespace, name }, {});
    },
  };
}

/** The refusal of a request as `code message`; the outcome as JSON when it was not refused. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    return `not refused: ${JSON.stringify(await work)}`;
  } catch (error) {
    if (error instanceof StatusError) return `${error.status.code} ${error.message}`;
    throw error;
  }
}

export const pods = '/v1/pods';
export const simplePod = (name: string, spec: JsonObject = {}): JsonObject => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
