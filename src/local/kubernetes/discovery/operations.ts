// The operations of a type as OpenAPI documents name them: the same for both versions of OpenAPI but for their form.
import type { ResourceType, Verb } from '../types/resource-type.ts';
import { type ServedKind, subresourcesOf } from './subresources.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly type: 'string' | 'boolean' | 'integer';
}

export interface Operation {
  readonly method: Method;
  readonly action: string;
  readonly id: string;
  readonly tag: string;
  readonly kind: ServedKind;
  readonly parameters: readonly Parameter[];
  readonly body: 'object' | 'patch' | 'deleteOptions' | 'none';
  readonly answer: 'object' | 'list' | 'status';
}

export interface PathItem {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly operations: readonly Operation[];
}

const query = (name: string, type: Parameter['type'] = 'string'): Parameter => ({ name, in: 'query', type });
const inPath = (name: string): Parameter => ({ name, in: 'path', type: 'string' });

const write = [query('dryRun'), query('fieldManager'), query('fieldValidation')];
const list = [
  query('allowWatchBookmarks', 'boolean'),
  query('continue'),
  query('fieldSelector'),
  query('labelSelector'),
  query('limit', 'integer'),
  query('resourceVersion'),
  query('resourceVersionMatch'),
  query('sendInitialEvents', 'boolean'),
  query('timeoutSeconds', 'integer'),
  query('watch', 'boolean'),
];
const remove = [
  query('dryRun'),
  query('gracePeriodSeconds', 'integer'),
  query('orphanDependents', 'boolean'),
  query('propagationPolicy'),
];

type Form = Pick<Operation, 'method' | 'action' | 'parameters' | 'body' | 'answer'> & {
  readonly id: string;
  /** Stands before the scope in the operation's id. */
  readonly prefix?: string;
};

/** By verb. */
const collection: Readonly<Partial<Record<Verb, Form>>> = {
  list: { method: 'get', action: 'list', id: 'list', parameters: list, body: 'none', answer: 'list' },
  create: { method: 'post', action: 'post', id: 'create', parameters: write, body: 'object', answer: 'object' },
  deletecollection: {
    method: 'delete',
    action: 'deletecollection',
    id: 'delete',
    prefix: 'Collection',
    parameters: [...list.slice(1, 8), ...remove],
    body: 'deleteOptions',
    answer: 'status',
  },
};
const item: Readonly<Partial<Record<Verb, Form>>> = {
  get: { method: 'get', action: 'get', id: 'read', parameters: [], body: 'none', answer: 'object' },
  update: { method: 'put', action: 'put', id: 'replace', parameters: write, body: 'object', answer: 'object' },
  delete: {
    method: 'delete',
    action: 'delete',
    id: 'delete',
    parameters: remove,
    body: 'deleteOptions',
    answer: 'status',
  },
  patch: {
    method: 'patch',
    action: 'patch',
    id: 'patch',
    parameters: [...write, query('force', 'boolean')],
    body: 'patch',
    answer: 'object',
  },
};
const subresourceForms: Readonly<Partial<Record<Verb, Form>>> = {
  ...item,
  create: { method: 'post', action: 'post', id: 'create', parameters: write, body: 'object', answer: 'object' },
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const words = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]/)
    .map(capital)
    .join('');

/** All paths of a type, the subresources' included. */
export function pathsOf(type: ResourceType): readonly PathItem[] {
  const { group, version, plural, kind, namespaced } = type;
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`;
  const name = `${group ? words(group.split('.')[0] ?? '') : 'Core'}${capital(version)}`;
  const tag = `${group ? group.split('.')[0] : 'core'}_${version}`;
  const scope = namespaced ? 'Namespaced' : '';
  const operationsOf = (
    verbs: readonly Verb[],
    forms: Readonly<Partial<Record<Verb, Form>>>,
    served: ServedKind,
    suffix: string,
    kindScope = scope,
  ): Operation[] =>
    verbs.flatMap((verb) => {
      const form = forms[verb];
      if (!form) return [];
      const { id, prefix = '', ...rest } = form;
      return [{ ...rest, id: `${id}${name}${prefix}${kindScope}${kind}${suffix}`, tag, kind: served }];
    });
  const own = { group, version, kind };
  const base = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const scoped = namespaced ? [inPath('namespace')] : [];
  const named = [inPath('name'), ...scoped];
  const paths: PathItem[] = [
    { path: base, parameters: [...scoped, query('pretty')], operations: operationsOf(type.verbs, collection, own, '') },
    {
      path: `${base}/{name}`,
      parameters: [...named, query('pretty')],
      operations: operationsOf(type.verbs, item, own, ''),
    },
    ...subresourcesOf(type).map((subresource) => ({
      path: `${base}/{name}/${subresource.name}`,
      parameters: [...named, query('pretty')],
      operations: operationsOf(subresource.verbs, subresourceForms, subresource.kind, capital(subresource.name)),
    })),
  ];
  if (namespaced && type.verbs.includes('list')) {
    paths.push({
      path: `${root}/${plural}`,
      parameters: [query('pretty')],
      operations: operationsOf(['list'], collection, own, 'ForAllNamespaces', ''),
    });
  }
  return paths.filter(({ operations }) => operations.length > 0);
}
