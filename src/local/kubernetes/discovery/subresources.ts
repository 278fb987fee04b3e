// What discovery says of a type's subresources.
import type { ResourceType, Subresource, Verb } from '../types/resource-type.ts';

export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface ServedSubresource {
  readonly name: string;
  readonly verbs: readonly Verb[];
  /** Of the type's own kind, or of another that the subresource takes or gives. */
  readonly kind: ServedKind;
  /** Whether that other kind is of another group. */
  readonly foreign: boolean;
}

const usual: readonly Verb[] = ['get', 'patch', 'update'];

function describe(type: ResourceType, subresource: Subresource): Omit<ServedSubresource, 'name'> {
  const own = { group: type.group, version: type.version, kind: type.kind };
  switch (subresource.kind) {
    case 'status':
      return { verbs: subresource.verbs ?? usual, kind: own, foreign: false };
    case 'scale':
      return { verbs: usual, kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, foreign: true };
    case 'action':
      return {
        verbs: subresource.verbs,
        kind: subresource.request,
        foreign: subresource.request.group !== '' && subresource.request.group !== type.group,
      };
  }
}

/** In order of their names. */
export const subresourcesOf = (type: ResourceType): readonly ServedSubresource[] =>
  Object.entries(type.subresources)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, subresource]) => ({ name, ...describe(type, subresource) }));
