// What the server gives a new object: name, namespace, uid, time of birth, first generation.
import { randomUUID } from 'node:crypto';
import type { Objects } from '../objects/objects.ts';
import { badRequest } from '../status.ts';
import type { AdmissionRequest } from './admission.ts';
import { checkNamespace } from './namespace-lifecycle.ts';
import { timestamp } from './timestamp.ts';

/** Fills the metadata of an object that is being created and checks that its namespace takes it. */
export function prepareNew(reader: Pick<Objects, 'get'>, request: AdmissionRequest): void {
  const { context, type, name, object } = request;
  if (!object) return;
  const { metadata } = object;
  if (metadata.resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created');
  checkNamespace(reader, type, name.namespace, name.name);
  if (name.name) metadata.name = name.name;
  if (type.namespaced) metadata.namespace = name.namespace;
  else delete metadata.namespace;
  metadata.uid = randomUUID();
  metadata.creationTimestamp = timestamp(context.cluster.now());
  delete metadata.resourceVersion;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  // Types that do not count generations keep what the client says.
  if (type.strategy.generation !== false) metadata.generation = 1;
}
