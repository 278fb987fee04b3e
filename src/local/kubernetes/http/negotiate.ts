// Which form an answer has, from the Accept header: JSON, YAML, or a table or metadata in their place.
import { notAcceptable, StatusError } from '../status.ts';

export type Shape = 'object' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

export interface Form {
  readonly media: 'json' | 'yaml';
  readonly shape: Shape;
  /** Of meta.k8s.io, for shapes other than the object itself. */
  readonly version: 'v1' | 'v1beta1';
}

export const jsonForm: Form = { media: 'json', shape: 'object', version: 'v1' };
const yamlForm: Form = { ...jsonForm, media: 'yaml' };

export const objectTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'] as const;
export const watchTypes = [
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
] as const;

const jsonNames = new Set(['application/json', '*/*']);
const routed = new Set<string>([...objectTypes, '*/*']);
const shapes = new Set<string>(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']);
/** 'unknown': no format in it is one of the server's at all. */
type Found = Form | 'unknown' | undefined;
const remembered = new Map<string, Found>();
const mostRemembered = 200;

/** The form of a header, undefined when nothing in it can be had. What is asked for in protobuf is not to be had here. */
function formOf(accept: string): Found {
  const clauses = accept.split(',').map((clause) => {
    const [media = '', ...parameters] = clause.split(';').map((part) => part.trim());
    const found: Record<string, string> = {};
    for (const parameter of parameters) {
      const at = parameter.indexOf('=');
      if (at > 0) found[parameter.slice(0, at).toLowerCase()] = parameter.slice(at + 1).replaceAll('"', '');
    }
    return { media: media.toLowerCase(), found, quality: Number(found.q ?? 1) };
  });
  if (!clauses.some(({ media }) => routed.has(media))) return 'unknown';
  clauses.sort((a, b) => b.quality - a.quality);
  for (const { media, found, quality } of clauses) {
    if (quality === 0) continue;
    const form = jsonNames.has(media) ? jsonForm : media === 'application/yaml' ? yamlForm : undefined;
    if (!form) continue;
    if (found.as === undefined) return form;
    if (found.g !== 'meta.k8s.io' || !shapes.has(found.as) || (found.v !== 'v1' && found.v !== 'v1beta1')) continue;
    return { media: form.media, shape: found.as as Shape, version: found.v };
  }
  return undefined;
}

function nothingKnown(types: readonly string[]): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${types.join(', ')}`;
  return new StatusError(406, 'NotAcceptable', message, {});
}

/** Refuses with 406 what cannot be had. `of` tells what the answer is: one object, a list, or a stream. */
export function negotiate(accept: string | undefined, of: 'object' | 'list' | 'watch' = 'object'): Form {
  if (accept === undefined || accept === '' || accept === 'application/json' || accept === '*/*') return jsonForm;
  let form = remembered.get(accept);
  if (!form && !remembered.has(accept)) {
    form = formOf(accept);
    if (remembered.size >= mostRemembered) remembered.clear();
    remembered.set(accept, form);
  }
  if (form === 'unknown') throw nothingKnown(of === 'object' ? objectTypes : [...objectTypes, ...watchTypes]);
  if (!form || (of === 'watch' && form.media === 'yaml'))
    throw notAcceptable(of === 'watch' ? watchTypes : objectTypes);
  return form;
}

/** The form of refusals, which are sent in JSON when nothing else can be had. */
export function refusalForm(accept: string | undefined): Form {
  try {
    return negotiate(accept).media === 'yaml' ? yamlForm : jsonForm;
  } catch {
    return jsonForm;
  }
}
