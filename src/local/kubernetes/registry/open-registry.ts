// The verbs over one cluster's objects.
import type { JsonObject, KubeObject } from '../object.ts';
import type { Entry, Objects } from '../objects/objects.ts';
import type { RequestContext } from '../request-context.ts';
import { decodeBuiltin } from '../schema/decode.ts';
import { schemaOfKind } from '../schema/definitions.ts';
import { inGoOrder } from '../schema/go-order.ts';
import type { Schema } from '../schema/schema.ts';
import { methodNotAllowed, notFound, StatusError } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';
import type { AdmissionPlugin } from './admission.ts';
import { deleteObject } from './deletion.ts';
import { generatedName } from './generated-name.ts';
import { list } from './list.ts';
import { readRevision, tooLargeRevision } from './list-options.ts';
import { applied, checkName, checkNamespaceOf, kindOf, type PatchedKind, patched, readPatched } from './patch.ts';
import type { DeleteOptions, ListQuery, ObjectName, PatchRequest, Registry, Written } from './registry.ts';
import { applyScale, type ScaleResource, scaleConfiguration, scaleOf } from './scale.ts';
import { watch } from './watch.ts';
import { write } from './write.ts';

/** How often the server chooses another name when the one it generated is taken. */
const nameAttempts = 8;

const scaleSchema = (): Schema => schemaOfKind('autoscaling', 'v1', 'Scale') ?? {};
const scaleReader: PatchedKind = {
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  ordered: (json) => inGoOrder('io.k8s.api.autoscaling.v1.Scale', json),
  read: (body) => decodeBuiltin('autoscaling', 'v1', 'Scale', body),
};

const copyOf = (object: KubeObject): KubeObject => structuredClone(object);

function scaleResource(type: ResourceType, subresource: string): ScaleResource | undefined {
  const found = type.subresources[subresource];
  return found?.kind === 'scale' ? found : undefined;
}

/** `plugins` is read at every write, so that others may come and go. */
export function openRegistry(objects: Objects, plugins: () => readonly AdmissionPlugin[]): Registry {
  const read = (type: ResourceType, { namespace, name }: ObjectName): Entry => {
    const entry = objects.get(type.storage, namespace, name);
    if (!entry) throw notFound({ group: type.group, resource: type.plural }, name);
    return entry;
  };

  async function create(
    context: RequestContext,
    type: ResourceType,
    namespace: string,
    object: KubeObject,
  ): Promise<Written> {
    checkNamespaceOf(object.metadata, type.namespaced ? namespace : '');
    const { name = '', generateName = '' } = object.metadata;
    const generates = name === '' && generateName !== '';
    for (let attempt = 1; ; attempt += 1) {
      const chosen = generates ? generatedName(generateName) : name;
      try {
        return await write(objects, {
          context,
          type,
          name: { namespace: type.namespaced ? namespace : '', name: chosen },
          subresource: '',
          plugins: plugins(),
          mode: 'create',
          wanted: (_live, again) => (generates || again ? copyOf(object) : object),
        });
      } catch (error) {
        const taken = error instanceof StatusError && error.status.reason === 'AlreadyExists';
        if (!generates || !taken || attempt >= nameAttempts) throw error;
      }
    }
  }

  async function update(
    context: RequestContext,
    type: ResourceType,
    name: ObjectName,
    object: KubeObject,
    subresource = '',
  ): Promise<Written> {
    const scale = scaleResource(type, subresource);
    checkName(object, name);
    return write(objects, {
      context,
      type,
      name,
      subresource,
      plugins: plugins(),
      mode: 'update',
      ...(scale ? { patch: true } : {}),
      wanted(live, again) {
        if (scale && live) return applyScale(scale, type, live, object);
        return again ? copyOf(object) : object;
      },
    });
  }

  async function patch(
    context: RequestContext,
    type: ResourceType,
    name: ObjectName,
    request: PatchRequest,
    subresource = '',
  ): Promise<Written> {
    const scale = scaleResource(type, subresource);
    if (request.type === 'apply') {
      return write(objects, {
        context,
        type,
        name,
        subresource,
        plugins: plugins(),
        mode: 'apply',
        tracks: true,
        patch: true,
        wanted(live) {
          if (!scale) return applied(context, type, name, live, request, subresource);
          if (!live) throw notFound({ group: type.group, resource: type.plural }, name.name);
          const configuration = scaleConfiguration(scale, type, request.body);
          return applied(context, type, name, live, { ...request, body: configuration }, subresource);
        },
      });
    }
    return write(objects, {
      context,
      type,
      name,
      subresource,
      plugins: plugins(),
      mode: 'update',
      patch: true,
      wanted(live) {
        if (!live) throw notFound({ group: type.group, resource: type.plural }, name.name);
        if (scale) {
          const json = patched(scaleOf(scale, live) as unknown as JsonObject, request, scaleSchema());
          return applyScale(scale, type, live, readPatched(context, scaleReader, name, json, request));
        }
        const json = patched(live as unknown as JsonObject, request, type.schema);
        return readPatched(context, kindOf(type), name, json, request);
      },
    });
  }

  return {
    get(_context, type, name, resourceVersion) {
      const wanted = readRevision(resourceVersion);
      if (wanted !== undefined && wanted > objects.revision) throw tooLargeRevision(wanted, objects.revision);
      return read(type, name);
    },
    list: (_context, type, query) => list(objects, type, query),
    watch: (_context, type, query, sink) => watch(objects, type, query, sink),
    create,
    update,
    patch,
    delete: (context, type, name, options) => deleteObject(objects, plugins(), context, type, name, options),
    async deleteCollection(context, type, query: ListQuery, options: DeleteOptions) {
      if (!type.verbs.includes('deletecollection')) {
        throw methodNotAllowed({ group: type.group, resource: type.plural }, 'deletecollection');
      }
      const found = list(objects, type, query);
      await Promise.all(
        found.entries.map(async ({ namespace, name }) => {
          try {
            await deleteObject(objects, plugins(), context, type, { namespace, name }, options);
          } catch (error) {
            if (!(error instanceof StatusError) || error.status.code !== 404) throw error;
          }
        }),
      );
      return found;
    },
  };
}
