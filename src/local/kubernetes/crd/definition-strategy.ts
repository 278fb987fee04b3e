// What is particular to definitions themselves: what they are given, what an update keeps, how they go.
import type { KubeObject } from '../object.ts';
import { timestamp } from '../registry/timestamp.ts';
import type { Strategy, Subresource } from '../types/resource-type.ts';
import { cleanupFinalizer, type Definition, withCondition } from './definition.ts';
import { validateDefinition, validateDefinitionUpdate, validateStored } from './validate-definition.ts';

const asDefinition = (object: KubeObject): Definition => object as Definition;

function complete(object: KubeObject): void {
  const { spec } = asDefinition(object);
  const { names } = spec;
  if (names?.kind) {
    names.singular ||= names.kind.toLowerCase();
    names.listKind ||= `${names.kind}List`;
  }
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service) service.port ??= 443;
}

/** The storage version counts as stored from now on. */
function noteStorage(definition: Definition): void {
  const { status, spec } = definition;
  if (!status) return;
  const storage = (spec.versions ?? []).find((version) => version.storage)?.name;
  if (storage === undefined || status.storedVersions?.includes(storage)) return;
  status.storedVersions = [...(status.storedVersions ?? []), storage];
}

export const definitionStrategy: Strategy = {
  defaults: complete,
  prepareCreate(object) {
    const definition = asDefinition(object);
    definition.status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null };
    noteStorage(definition);
  },
  prepareUpdate(object, old) {
    const definition = asDefinition(object);
    const { status } = asDefinition(old);
    if (status) definition.status = structuredClone(status);
    noteStorage(definition);
  },
  prepareDelete(object, context) {
    const definition = asDefinition(object);
    const { metadata, status } = definition;
    if (metadata.deletionTimestamp !== undefined) return;
    const now = timestamp(context.cluster.now());
    metadata.deletionTimestamp = now;
    if (!metadata.finalizers?.includes(cleanupFinalizer)) {
      metadata.finalizers = [...(metadata.finalizers ?? []), cleanupFinalizer];
    }
    if (!status) return;
    status.conditions = withCondition(
      status.conditions ?? [],
      {
        type: 'Terminating',
        status: 'True',
        reason: 'InstanceDeletionPending',
        message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      },
      now,
    );
  },
  validate: (object) => validateDefinition(asDefinition(object)),
  validateUpdate: (object, old) => validateDefinitionUpdate(asDefinition(object), asDefinition(old)),
};

/** Another way to update a definition, which changes the status alone. */
export const definitionStatus: Subresource = {
  kind: 'status',
  prepareUpdate(object, old) {
    const { managedFields, resourceVersion } = object.metadata;
    object.metadata = { ...old.metadata };
    if (managedFields) object.metadata.managedFields = managedFields;
    if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
    object.spec = old.spec;
  },
  validateUpdate: (object) => {
    const { spec, status } = asDefinition(object);
    return validateStored(spec, status?.storedVersions ?? null);
  },
};
