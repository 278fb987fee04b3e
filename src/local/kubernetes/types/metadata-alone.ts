// The metadata of objects where it is shown without them: in rows of tables and as metadata alone.
import type { KubeObject, ObjectMeta } from '../object.ts';

/** Counts the templates of a daemon set. The server has it in a field of its own and shows it in whole objects only. */
export const templateGeneration = 'deprecated.daemonset.template.generation';

/** The metadata as the server shows it by itself; the object is not changed. */
export function metadataAlone({ kind, metadata }: KubeObject): ObjectMeta {
  if (kind !== 'DaemonSet' || metadata.annotations?.[templateGeneration] === undefined) return metadata;
  const { annotations, ...rest } = metadata;
  const { [templateGeneration]: _, ...shown } = annotations;
  return Object.keys(shown).length > 0 ? { ...rest, annotations: shown } : rest;
}
