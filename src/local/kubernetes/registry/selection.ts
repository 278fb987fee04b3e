// Which entries of a type a list or watch is about: namespace, labels and fields in one test.
import type { Entry } from '../objects/objects.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { parseFieldSelector } from './field-selector.ts';
import { parseLabelSelector } from './label-selector.ts';
import type { Selectors } from './registry.ts';

export interface Selection {
  /** Undefined: all of the type. */
  readonly namespace: string | undefined;
  /** Undefined: no selector was given, so that every entry of the namespace matches. */
  readonly matches: ((entry: Entry) => boolean) | undefined;
  /** The only name that can match. */
  readonly name: string | undefined;
}

/** Reads the selectors of a query. Refuses with 400 in the server's words. */
export function selectionOf(type: ResourceType, query: Selectors & { readonly namespace?: string }): Selection {
  const labels = parseLabelSelector(query.labelSelector);
  const fields = parseFieldSelector(type, query.fieldSelector);
  const matches =
    labels && fields
      ? (entry: Entry) => labels(entry.labels) && fields.matches(entry)
      : labels
        ? (entry: Entry) => labels(entry.labels)
        : fields
          ? (entry: Entry) => fields.matches(entry)
          : undefined;
  return { namespace: query.namespace || undefined, matches, name: fields?.name };
}
