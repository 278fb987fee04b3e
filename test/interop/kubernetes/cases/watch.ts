// Watching: what there is, what changes, bookmarks, and what is refused.
import { after, type Case, del, get, mergePatch, partial, plain, post, table, watch } from './case.ts';
import { configMap } from './objects.ts';

const two = [
  post('configmaps', configMap('a', {}, { labels: { app: 'a' } })),
  post('configmaps', configMap('b', {}, { labels: { app: 'b' } })),
];
/** A real server's cache may be a moment behind, unless somebody asked for the newest. */
const twoCached = [...two, get('configmaps')];
const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const changes = [
  get('configmaps'),
  post('configmaps', configMap('a')),
  mergePatch('configmaps/a', { data: { x: '1' } }),
  mergePatch('configmaps/a', { metadata: { labels: { app: 'a' } } }),
  mergePatch('configmaps/a', { metadata: { labels: { app: 'b' } } }),
  del('configmaps/a'),
];
const since = 'watch=1&resourceVersion={{0.metadata.resourceVersion}}';
const refused = (name: string, query: string): Case => plain(name, watch(`configmaps?${query}`, 1));

export const watchCases: readonly Case[] = [
  after('watch what there is', two, watch('configmaps?watch=true', 2)),
  after(
    'watch what there is in the cache',
    twoCached,
    watch('configmaps?watch=1&resourceVersion=0&labelSelector=app', 2),
  ),
  after('watch changes', changes, watch(`configmaps?${since}`, 5)),
  after('watch changes of a selection', changes, watch(`configmaps?${since}&labelSelector=app%3Da`, 2)),
  after('watch changes that leave a selection', changes, watch(`configmaps?${since}&labelSelector=!app`, 3)),
  after('watch one object', changes, watch(`configmaps/a?${since}`, 5)),
  after('watch one object by its name', changes, watch(`configmaps?${since}&fieldSelector=metadata.name%3Da`, 5)),
  after(
    'watch by the old path',
    changes,
    watch('/api/v1/watch/namespaces/$NS/configmaps?resourceVersion={{0.metadata.resourceVersion}}', 5),
  ),
  after(
    'watch one by the old path',
    changes,
    watch('/api/v1/watch/namespaces/$NS/configmaps/a?resourceVersion={{0.metadata.resourceVersion}}', 5),
  ),
  after(
    'watch all namespaces',
    changes,
    watch(`/api/v1/configmaps?${since}&fieldSelector=metadata.namespace%3D$NS`, 5),
  ),
  after('watch with initial events', two, watch(`configmaps?watch=1&${initial}`, 3)),
  after(
    'watch with initial events from nothing',
    twoCached,
    watch(`configmaps?watch=1&resourceVersion=0&${initial}`, 3),
  ),
  plain('watch with initial events of nothing', watch(`configmaps?watch=1&${initial}`, 1)),
  after('watch in tables', two, watch('configmaps?watch=1&labelSelector=app', 2, table)),
  after('watch metadata alone', two, watch('configmaps?watch=1', 2, partial)),
  after('watch in YAML', two, watch('configmaps?watch=1', 2, { accept: 'application/yaml' })),
  after('watch no longer than a second', two, watch('configmaps?watch=1&timeoutSeconds=1', 9)),
  refused('watch from a version that is none', 'watch=1&resourceVersion=abc'),
  refused('watch initial events without a match', 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true'),
  refused('watch initial events with an exact match', 'watch=1&sendInitialEvents=true&resourceVersionMatch=Exact'),
  refused('watch with a match alone', 'watch=1&resourceVersionMatch=NotOlderThan'),
  refused('watch with a match and a version', 'watch=1&resourceVersion=5&resourceVersionMatch=NotOlderThan'),
  refused('watch of a page', 'watch=1&continue=abc'),
  refused('watch with a bad label selector', 'watch=1&labelSelector=a+in'),
  refused('watch with a bad field selector', 'watch=1&fieldSelector=data.x%3Dy'),
  refused('watch that is neither true nor false', 'watch=perhaps&timeoutSeconds=1'),
  refused('watch for a time that is none', 'watch=1&timeoutSeconds=soon'),
  plain('watch a resource that is not there', watch('/api/v1/namespaces/$NS/colours?watch=1', 1)),
  plain('watch what creates only', watch('/apis/authorization.k8s.io/v1/subjectaccessreviews?watch=1', 1)),
  plain('watch one object by another name', watch('configmaps/a?watch=1&fieldSelector=metadata.name%3Db', 1)),
];
