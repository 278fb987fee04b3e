// What a request asks for, read from its method and path as kube-apiserver does.

export interface RequestInfo {
  /** Whether it is about resources (`/api/v1/…`, `/apis/<group>/<version>/…`) or some other path. */
  readonly isResource: boolean;
  readonly path: string;
  readonly query: URLSearchParams;
  /** get, list, watch, create, update, patch, delete, deletecollection; the method in lower case for other paths. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Whether the path has more parts than a resource can have. */
  readonly tooDeep: boolean;
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

const namespaceSubresources = new Set(['status', 'finalize']);

const noQuery = new URLSearchParams();

/** Undefined when the path cannot be decoded. */
export function requestInfo(method: string, url: string): RequestInfo | undefined {
  const mark = url.indexOf('?');
  const rawPath = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? noQuery : new URLSearchParams(readable(url.slice(mark + 1)));
  const path = rawPath.includes('%') ? decoded(rawPath) : rawPath;
  if (path === undefined) return undefined;
  const other: RequestInfo = {
    isResource: false,
    path,
    query,
    verb: method.toLowerCase(),
    group: '',
    version: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    tooDeep: false,
  };
  if (!path.startsWith('/api/') && !path.startsWith('/apis/')) return other;
  const parts = path.split('/');
  parts.shift();
  if (parts.at(-1) === '') parts.pop();
  const core = parts[0] === 'api';
  const group = core ? '' : (parts[1] ?? '');
  const version = parts[core ? 1 : 2] ?? '';
  const rest = parts.slice(core ? 2 : 3);
  if (rest.length === 0 || parts.includes('')) return other;
  return resourceInfo(other, method, group, version, rest);
}

function resourceInfo(
  other: RequestInfo,
  method: string,
  group: string,
  version: string,
  given: readonly string[],
): RequestInfo {
  const { query } = other;
  let verb = verbs[method] ?? '';
  let rest = given;
  if ((rest[0] === 'watch' || rest[0] === 'proxy') && rest.length > 1) {
    verb = rest[0] === 'watch' && verb === 'get' ? 'watch' : verb;
    rest = rest.slice(1);
  }
  let namespace = '';
  if (rest[0] === 'namespaces' && rest.length > 1) {
    namespace = rest[1] ?? '';
    // `/namespaces/x/status` is about the namespace, `/namespaces/x/pods` about what is in it.
    if (rest.length > 2 && !namespaceSubresources.has(rest[2] ?? '')) rest = rest.slice(2);
  }
  const [resource = '', name = '', subresource = '', ...more] = rest;
  if (name === '' && verb === 'get') {
    const watch = query.get('watch');
    verb = watch !== null && isTrue(watch) ? 'watch' : 'list';
  }
  if (name === '' && verb === 'delete') verb = 'deletecollection';
  return {
    ...other,
    isResource: true,
    verb,
    group,
    version,
    namespace,
    resource,
    subresource,
    name,
    tooDeep: more.length > 0,
  };
}

const unreadable = /%(?![\da-fA-F]{2})|;/;

/** A query without the options that cannot be read, which the server passes over. */
function readable(query: string): string {
  if (!unreadable.test(query)) return query;
  const options = query.split('&').filter((option) => !unreadable.test(option));
  return options.join('&');
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** How the server reads booleans in queries: anything but these is true. */
export function isTrue(value: string): boolean {
  return value.toLowerCase() !== 'false' && value !== '0';
}
