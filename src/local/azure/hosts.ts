// Which app answers a request, by the host name it was sent to. One TLS port serves the cloud's own names and all data planes. The port
// is bound first, since the cloud's addresses hold its number; until the apps are there, requests are answered with 503.
import type { FastifyInstance } from 'fastify';
import { type App, decorateCaller } from '../../kit/caller.ts';
import { type DataPlane, dataPlaneOf } from './cloud.ts';

/** What is used of a request of HTTP/1 or HTTP/2. */
interface RawRequest {
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly authority?: string;
}

interface RawResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

type Route = (request: RawRequest, response: RawResponse) => void;

const planeNameOf: unique symbol = Symbol('planeName');

interface Marked {
  [planeNameOf]?: string;
}

/** Gives an app's requests their `planeName`. */
export function decoratePlaneName(app: FastifyInstance): void {
  app.decorateRequest('planeName', {
    getter() {
      return (this.raw as Marked)[planeNameOf] ?? '';
    },
  });
}

export interface HostApps {
  /** Resource Manager, Entra ID, Graph, metadata and control. */
  readonly main: FastifyInstance;
  readonly planes: ReadonlyMap<DataPlane, FastifyInstance>;
}

export interface Hosts {
  /** For the listener. */
  readonly app: App;
  /** From now on these answer. */
  serve(apps: HostApps): Promise<void>;
}

/** The labels in front of the suffix under which the main app is also known. */
const mainLabels = ['management', 'login', 'graph'] as const;

/** Unknown hosts get 421, as of a server that has no such name. */
export function createHosts(suffix: string): Hosts {
  const mainHosts = new Set(['localhost', '127.0.0.1', '[::1]', ...mainLabels.map((label) => `${label}.${suffix}`)]);
  let main: Route | undefined;
  let planes: ReadonlyMap<DataPlane, Route> = new Map();

  const route: Route = (request, response) => {
    if (main === undefined) {
      refuse(response, 503, 'ServiceUnavailable', 'The cloud is starting.');
      return;
    }
    const host = hostOf(request);
    if (mainHosts.has(host)) {
      main(request, response);
      return;
    }
    const found = dataPlaneOf({ suffix }, host);
    // Any other name may be a custom domain of Front Door, which knows its own.
    const plane = planes.get(found?.plane ?? 'frontDoor');
    if (!plane) {
      refuse(response, 421, 'InvalidHost', 'No service of this cloud has this host name.');
      return;
    }
    (request as Marked)[planeNameOf] = found?.name ?? '';
    plane(request, response);
  };

  return {
    app: {
      ready: async () => undefined,
      routing: route as App['routing'],
      hasRequestDecorator: () => true,
      decorateRequest: () => undefined,
    },
    async serve(apps) {
      for (const app of [apps.main, ...apps.planes.values()]) {
        decorateCaller(app as unknown as App);
        await app.ready();
      }
      planes = new Map([...apps.planes].map(([plane, app]) => [plane, routeOf(app)]));
      main = routeOf(apps.main);
    },
  };
}

function routeOf(app: FastifyInstance): Route {
  return app.routing as unknown as Route;
}

/** Without port, in lower case. */
function hostOf(request: RawRequest): string {
  const sent = request.headers.host ?? request.authority ?? request.headers[':authority'];
  const text = (Array.isArray(sent) ? sent[0] : sent) ?? '';
  return text.replace(/:\d*$/, '').toLowerCase();
}

function refuse(response: RawResponse, status: number, code: string, message: string): void {
  const body = JSON.stringify({ error: { code, message } });
  response.statusCode = status;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', String(Buffer.byteLength(body)));
  if (status === 503) response.setHeader('retry-after', '1');
  response.end(body);
}
