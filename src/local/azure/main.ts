// The embedded Azure: Resource Manager, Entra ID, Graph and the data planes of a cloud in one process, behind one TLS port on loopback.
// Reading `start` from top to bottom tells what it consists of.
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { composeService } from '../../kit/lifecycle.ts';
import { listen } from '../../kit/listener.ts';
import type { Secret } from '../../kit/secret.ts';
import type { Running } from '../../kit/service.ts';
import { openSqliteStore } from '../../store/sqlite/open.ts';
import { createDispatcher } from './arm/dispatch.ts';
import { armFront } from './arm/front.ts';
import { routeTable } from './arm/routes.ts';
import { azureLimits, createThrottle, generousLimits } from './arm/throttle.ts';
import { createAccess } from './authorization/access.ts';
import { type Cloud, dataPlaneLabels } from './cloud.ts';
import {
  type AzureConfig,
  checkConfig,
  defaultCloudName,
  defaultLocations,
  defaultSuffix,
  defaultTenantId,
  newSubscription,
} from './config.ts';
import { controlRoutes } from './control/routes.ts';
import { openDataDirectory } from './data-directory.ts';
import { startDnsServer } from './dns/server.ts';
import { createDirectory } from './entra/directory.ts';
import { resourceManagerAppId, resourceProviderAppId } from './entra/first-party.ts';
import { entraRoutes } from './entra/routes.ts';
import { keepArmCertificate, tlsPair } from './front-door/arm-certificate.ts';
import { createFrontDoor, type FrontDoor, openFrontDoor } from './front-door/front-door.ts';
import { liveRegistry } from './front-door/live-registry.ts';
import { notifyingSubscriptions } from './front-door/notifying-subscriptions.ts';
import { createRemote } from './front-door/remote.ts';
import { frontDoorControl, frontDoorRoutes } from './front-door/routes.ts';
import { graphRoutes } from './graph/routes.ts';
import { createHosts, decoratePlaneName } from './hosts.ts';
import type { DataPlaneService } from './kernel/data-plane.ts';
import { createResources } from './kernel/engine.ts';
import { createFaults } from './kernel/fault-table.ts';
import { type ProfileName, profiles } from './kernel/profiles.ts';
import { createSystemClock } from './kernel/system-clock.ts';
import type { World } from './kernel/world.ts';
import { lazyIssuerClient } from './lazy-issuer-client.ts';
import { federatedCredentialsFrom } from './managed-identity/federated-credentials.ts';
import { metadataRoutes } from './metadata/endpoints.ts';
import { createNetwork } from './network/network.ts';
import { answerUnknownPaths, newApp } from './new-app.ts';
import { ownerIds } from './owner.ts';
import { providers as allProviders, dataPlanes } from './providers.ts';
import { startProxy } from './proxy/proxy.ts';
import { ownRoutes } from './resources-provider/provider.ts';
import { openSubscriptions } from './resources-provider/subscriptions.ts';
import { openSettings } from './settings.ts';

/** A service principal that owns the whole cloud, to begin with. */
export interface Owner {
  readonly tenantId: string;
  readonly clientId: string;
  readonly objectId: string;
  readonly secret: Secret<string>;
}

export interface RunningAzure extends Running {
  readonly cloud: Cloud;
  readonly world: World;
  /** PEM of the authority that signs for all of the cloud's names. */
  readonly ca: string;
  readonly dataDirectory: string;
  readonly controlToken: Secret<string>;
  readonly owner: Owner;
}

export async function start(config: AzureConfig): Promise<RunningAzure> {
  checkConfig(config);
  const { logger, graceSeconds } = config;
  const host = config.host ?? '127.0.0.1';
  const suffix = config.suffix ?? defaultSuffix;
  const tenantId = (config.tenantId ?? defaultTenantId).toLowerCase();
  const providers = [...allProviders, ...(config.providers ?? [])];
  let running: Omit<RunningAzure, keyof Running> | undefined;

  const service = await composeService(
    { name: 'azure', logger, ...(graceSeconds === undefined ? {} : { graceSeconds }) },
    async ({ part, address, stopping, addReadiness }) => {
      const files = await part(
        'data directory',
        () => openDataDirectory(config.dataDirectory),
        (opened) => opened.close(),
      );
      const store = await part(
        'store',
        () =>
          openSqliteStore({
            file: files.storeFile,
            keyRing: files.keys,
            ...(config.synchronous === undefined ? {} : { synchronous: config.synchronous }),
          }),
        (opened) => opened.close(),
      );
      addReadiness('store', () => store.ping());

      // The addresses of the cloud hold these ports, so they come before everything that knows addresses.
      const certificate = await part(
        'certificate',
        () => files.serverCertificate(serverNames(suffix), (err) => logger.error({ err }, 'no new certificate')),
        ({ keeper }) => keeper.stop(),
      );
      const hosts = createHosts(suffix, logger);
      const listener = await part(
        'listener',
        () =>
          listen(hosts.app, {
            host,
            port: config.port ?? files.ports.https ?? 0,
            certificate: certificate.files.certificate,
            key: certificate.files.key,
            http2: true,
            logger,
          }),
        (listening, graceOver) => listening.stop(graceOver),
      );
      let world: World | undefined;
      const proxy = await part('proxy', () =>
        startProxy({
          host,
          port: config.proxyPort ?? files.ports.proxy ?? 0,
          network: () => world?.network,
          listener: () => ({ host, port: listener.port }),
          passThrough: config.proxyPassThrough ?? [],
          logger,
        }),
      );
      const dns = await part('DNS', () =>
        startDnsServer({
          host,
          port: config.dnsPort ?? files.ports.dns ?? 0,
          zones: { suffix, resolve: async (name, type) => world?.network.resolve(name, type) },
          logger,
        }),
      );
      await files.rememberPorts({ https: listener.port, proxy: proxy.port, dns: dns.port });
      const cloud: Cloud = {
        name: config.name ?? defaultCloudName,
        suffix,
        origin: `https://localhost:${listener.port}`,
        proxy: proxy.url,
        locations: config.locations ?? defaultLocations,
      };

      const settings = await openSettings(store);
      const clock = await part('clock', () =>
        createSystemClock({ logger, skippedMs: settings.skippedMs, keep: settings.keepSkipped }),
      );
      let profileName: ProfileName = config.profile ?? 'demo';
      const profile = () => profiles[profileName];
      const faults = createFaults(config.faults);
      const network = createNetwork({
        cloud,
        store,
        resources: () => resources,
        listener: () => ({ host, port: listener.port }),
      });
      let door: FrontDoor | undefined;
      const subscriptions = notifyingSubscriptions(await openSubscriptions({ store, tenantId, providers }), () =>
        door?.subscriptionsChanged(),
      );
      const namespaces = [...providers, ...(config.resourceProviders ?? [])].map(({ namespace }) => namespace);
      for (const subscription of config.subscriptions ?? [])
        await subscriptions.ensure(newSubscription(subscription, namespaces));

      const issuers = await part(
        'issuers',
        () => lazyIssuerClient({ target: (name, port) => network.target(name, port), ca: files.ca }),
        (client) => client.close(),
      );
      const owner: Owner = {
        tenantId,
        ...ownerIds(tenantId),
        secret: files.ownerSecret,
      };
      const { applications = [], ...directory } = config.directory ?? {};
      const entra = await createDirectory({
        cloud,
        store,
        clock,
        logger,
        issuers,
        federatedCredentialsOf: federatedCredentialsFrom(() => resources),
        seed: {
          tenants: [{ id: tenantId, displayName: cloud.name, domain: `${cloud.name.toLowerCase()}.${suffix}` }],
          ...directory,
          applications: [
            {
              displayName: 'Owner',
              appId: owner.clientId,
              objectId: owner.objectId,
              secret: owner.secret,
              graphRoles: ['Directory.ReadWrite.All', 'Application.ReadWrite.All'],
            },
            ...applications,
          ],
        },
      });

      const resources = await part('resources', () =>
        createResources({
          store,
          providers,
          subscriptions,
          cloud,
          clock,
          profile,
          faults,
          logger,
          world: () => whole,
        }),
      );
      const whole: World = {
        cloud,
        logger,
        clock,
        store,
        resources,
        subscriptions,
        providers,
        directory: entra,
        access: createAccess({
          resources: () => resources,
          clock,
          faults,
          profile,
          tenantId,
          owners: [owner.objectId, ...(config.owners ?? [])],
          platformApps: [resourceProviderAppId, ...(config.platformApps ?? [])],
          groupsOf: (objectId) => entra.entra.objects.groupsOf(objectId),
        }),
        faults,
        network,
        files: join(files.path, 'contents'),
        authority: files.authority,
        stopping,
      };
      world = whole;

      const armCertificate = await part(
        'certificate of Resource Manager',
        () =>
          keepArmCertificate({
            directory: files.path,
            authority: files.authority,
            suffix,
            onFailure: (err) => logger.error({ err }, 'no new certificate for Resource Manager'),
          }),
        (keeper) => keeper.stop(),
      );
      const frontDoor = await part('front door', () =>
        createFrontDoor({
          world: () => whole,
          store,
          subscriptions,
          logger,
          keys: files.keys,
          remote: createRemote({
            certificate: () => tlsPair(armCertificate.current),
            ca: files.ca,
            network: () => network,
          }),
          endpoints: config.resourceProviders ?? [],
          appId: resourceManagerAppId,
          principal: () => entra.entra.objects.servicePrincipal(tenantId, resourceManagerAppId)?.id,
          addProvider: (provider) => void providers.push(provider),
        }),
      );
      door = frontDoor;
      openFrontDoor(whole, frontDoor);

      const registry = liveRegistry(
        () => providers,
        () => frontDoor.version,
      );
      const main = newApp(logger);
      answerUnknownPaths(main);
      await armFront(main, {
        world: whole,
        registry,
        keys: files.keys,
        retryAfterSeconds: () => profile().retryAfterSeconds,
        dispatcher: createDispatcher(registry, routeTable(ownRoutes), frontDoor.dispatch),
        throttle: createThrottle(
          () => config.throttling ?? (profileName === 'azure' ? azureLimits : generousLimits),
          () => performance.now(),
        ),
      });
      metadataRoutes(main, cloud, tenantId);
      entraRoutes(main, entra.entra);
      graphRoutes(main, entra.entra);
      await controlRoutes(main, {
        world: whole,
        token: files.controlToken,
        profile: {
          get: () => profileName,
          set(name) {
            profileName = name;
          },
        },
        more: (scope) => frontDoorControl(scope, frontDoor),
      });
      const planeApp = async ({ routes }: DataPlaneService): Promise<FastifyInstance> => {
        const app = newApp(logger);
        decoratePlaneName(app);
        await routes(app, whole);
        return app;
      };
      const planes = new Map(
        [...dataPlanes, ...(config.dataPlanes ?? [])].map(
          (service) => [service.plane, () => planeApp(service)] as const,
        ),
      );
      frontDoorRoutes(main, frontDoor, () => armCertificate.current);
      // Before operations are taken up again, since their effects may use what the providers have started.
      for (const provider of providers)
        await part(
          provider.namespace,
          async () => provider.start?.(whole),
          async () => provider.stop?.(whole),
        );
      await resources.start();
      await frontDoor.start();
      await hosts.serve({ main, planes });
      address('https', cloud.origin);
      address('proxy', cloud.proxy);
      address('dns', dns.address);
      running = {
        cloud,
        world: whole,
        ca: files.ca,
        dataDirectory: files.path,
        controlToken: files.controlToken,
        owner,
      };
    },
  );
  if (!running) throw new Error('the service was composed without its parts');
  return Object.assign(service, running);
}

/** A wildcard stands for one label, so every plane needs one of its own. */
function serverNames(suffix: string): readonly string[] {
  return ['localhost', `*.${suffix}`, ...Object.values(dataPlaneLabels).map((label) => `*.${label}.${suffix}`)];
}
