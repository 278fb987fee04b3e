// Paths of the server itself: health, version, metrics and the index of all paths.
import type { Metrics } from '../../../kit/metrics.ts';
import type { Readiness } from '../../../kit/readiness.ts';
import { StatusError } from '../status.ts';
import type { Answer, PathHandler } from './routes.ts';

export const gitVersion = 'v1.34.4';

const version = {
  major: '1',
  minor: '34',
  emulationMajor: '1',
  emulationMinor: '34',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '33',
  gitVersion,
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};

const plainText = 'text/plain; charset=utf-8';
const healthPath = /^\/(healthz|livez|readyz)(?:\/(.+))?$/;

const text = (status: number, body: string): Answer => ({ status, body, contentType: plainText });

const notAllowed = (): StatusError =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export function serverPaths(options: { readonly metrics: Metrics; readonly readiness: Readiness }): PathHandler {
  const { metrics, readiness } = options;

  async function health(kind: string, check: string | undefined, query: URLSearchParams): Promise<Answer> {
    const failed = kind === 'readyz' ? await readiness.notReady() : [];
    const checks = ['ping', ...(kind === 'readyz' ? ['service'] : [])];
    const names = [...new Set([...checks, ...failed.map(({ name }) => name)])];
    if (check !== undefined) {
      if (!names.includes(check)) return text(404, '404 page not found\n');
      const one = failed.find(({ name }) => name === check);
      return one ? text(500, `internal server error: ${one.reason}\n`) : text(200, 'ok');
    }
    const excluded = new Set(query.getAll('exclude'));
    const bad = failed.filter(({ name }) => !excluded.has(name));
    if (bad.length === 0 && !query.has('verbose')) return text(200, 'ok');
    const lines = names.map((name) => {
      if (excluded.has(name)) return `[+]${name} excluded: ok\n`;
      const problem = bad.find((each) => each.name === name);
      return problem ? `[-]${name} failed: reason withheld\n` : `[+]${name} ok\n`;
    });
    const verdict = `${kind} check ${bad.length > 0 ? 'failed' : 'passed'}\n`;
    return text(bad.length > 0 ? 500 : 200, lines.join('') + verdict);
  }

  return async ({ cluster, path, query, method }) => {
    const found = healthPath.exec(path);
    if (found) return health(found[1] ?? '', found[2], query);
    if (path === '/version' || path === '/version/') {
      if (method !== 'GET') throw notAllowed();
      return { status: 200, body: version };
    }
    if (path === '/metrics') {
      const { contentType, body } = await metrics.scrape();
      return { status: 200, body, contentType };
    }
    if (path === '/' || path === '/index.html') {
      const groups = new Set<string>();
      for (const { group, version: served } of cluster.types.all()) {
        if (group) groups.add(`/apis/${group}`).add(`/apis/${group}/${served}`);
      }
      const paths = [
        '/.well-known/openid-configuration',
        '/api',
        '/api/v1',
        '/apis',
        '/apis/',
        ...groups,
        '/healthz',
        '/livez',
        '/metrics',
        '/openapi/v2',
        '/openapi/v3',
        '/openapi/v3/',
        '/openid/v1/jwks',
        '/readyz',
        '/version',
      ];
      return { status: 200, body: { paths: paths.sort() } };
    }
    return undefined;
  };
}
