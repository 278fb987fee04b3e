// Which app answers a request, by the host name it was sent to. One TLS port serves the cloud's own names and all data planes. The port
// is bound first, since the cloud's addresses hold its number; until the apps are there, requests are answered with 503. The app of a data
// plane is made with the first request to it.
import type { FastifyInstance } from 'fastify';
import { type App, decorateCaller } from '../../kit/caller.ts';
import type { Logger } from '../../kit/log.ts';
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
  /** How the app of each plane is made; called once, and again when it failed. */
  readonly planes: ReadonlyMap<DataPlane, () => Promise<FastifyInstance>>;
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
export function createHosts(suffix: string, logger: Logger): Hosts {
  const mainHosts = new Set(['localhost', '127.0.0.1', '[::1]', ...mainLabels.map((label) => `${label}.${suffix}`)]);
  let main: Route | undefined;
  let makers: HostApps['planes'] = new Map();
  const planes = new Map<DataPlane, Route>();
  const making = new Map<DataPlane, Promise<Route>>();

  const make = async (plane: DataPlane, maker: () => Promise<FastifyInstance>): Promise<Route> => {
    try {
      const made = await ready(await maker());
      planes.set(plane, made);
      return made;
    } finally {
      making.delete(plane);
    }
  };

  /** Passes a request on once there is somebody to take it. Its body waits in the socket meanwhile. */
  const passLater = async (plane: DataPlane, maker: () => Promise<FastifyInstance>, ...pass: Parameters<Route>) => {
    const made = making.get(plane) ?? make(plane, maker);
    making.set(plane, made);
    try {
      (await made)(...pass);
    } catch (err) {
      logger.error({ err, plane }, 'a data plane could not be made');
      refuse(pass[1], 503, 'ServiceUnavailable', 'The service could not be started.');
    }
  };

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
    const name = found?.plane ?? 'frontDoor';
    (request as Marked)[planeNameOf] = found?.name ?? '';
    const plane = planes.get(name);
    if (plane) {
      plane(request, response);
      return;
    }
    const maker = makers.get(name);
    if (maker) void passLater(name, maker, request, response);
    else refuse(response, 421, 'InvalidHost', 'No service of this cloud has this host name.');
  };

  return {
    app: {
      ready: async () => undefined,
      routing: route as App['routing'],
      hasRequestDecorator: () => true,
      decorateRequest: () => undefined,
    },
    async serve(apps) {
      makers = apps.planes;
      main = await ready(apps.main);
    },
  };
}

async function ready(app: FastifyInstance): Promise<Route> {
  decorateCaller(app as unknown as App);
  await app.ready();
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
