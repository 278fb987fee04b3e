// Preflight: providers look at the resources of a template before any of it is deployed.
import type { ErrorBody } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import type { Preflight, PreflightResource } from '../deployments/preflight.ts';
import type { Endpoint } from './endpoint.ts';
import type { Endpoints } from './endpoints.ts';
import { errorOf } from './provider-calls.ts';
import type { RemoteAnswer, RemoteRequest } from './remote.ts';
import { stamps } from './stamp.ts';

const apiVersion = '2020-10-01';

/** Everything that the providers find wrong. A provider that cannot be asked finds nothing: the deployment will tell. */
export async function askProviders(
  request: Parameters<Preflight>[0],
  endpoints: Endpoints,
  send: (endpoint: Endpoint, request: RemoteRequest) => Promise<RemoteAnswer>,
  ensureTold: (endpoint: Endpoint, subscriptionId: string) => Promise<void>,
): Promise<readonly ErrorBody[]> {
  const { world, deployment, caller, resources } = request;
  const errors: ErrorBody[] = [];
  for (const { endpoint, group, asked } of shared(resources, endpoints)) {
    const [first] = asked;
    const { subscriptionId } = first?.id ?? {};
    if (first === undefined || subscriptionId === undefined) continue;
    const path = `${group}/providers/${endpoint.namespace}/deployments/${encodeURIComponent(deployment.name)}/preflight`;
    const target = `${path}?api-version=${apiVersion}`;
    try {
      await ensureTold(endpoint, subscriptionId);
      const answer = await send(endpoint, {
        method: 'POST',
        target,
        headers: stamps({
          world,
          method: 'POST',
          referer: `${world.cloud.origin}${target}`,
          caller,
          correlationId: crypto.randomUUID(),
          id: undefined,
        }),
        body: { resources: asked.map(wireOf) },
        signal: world.stopping,
      });
      if (answer.status >= 400) throw errorOf(answer, endpoint);
      const error = isRecord(answer.body) && answer.body.status === 'Failed' ? answer.body.error : undefined;
      if (isRecord(error))
        errors.push({
          ...error,
          code: String(error.code ?? 'InvalidTemplateDeployment'),
          message: String(error.message ?? ''),
        });
    } catch (err) {
      world.logger.debug({ err, endpoint: endpoint.name }, 'a provider did not answer the preflight');
    }
  }
  return errors;
}

interface Share {
  readonly endpoint: Endpoint;
  /** Path of the subscription and group. */
  readonly group: string;
  readonly asked: PreflightResource[];
}

/** One request to each endpoint for each group. */
function shared(resources: readonly PreflightResource[], endpoints: Endpoints): Iterable<Share> {
  const shares = new Map<string, Share>();
  for (const resource of resources) {
    const { id } = resource;
    const served = endpoints.find(id.provider ?? '', id.types.join('/'));
    if (served === undefined || id.resourceGroup === undefined) continue;
    const group = `/subscriptions/${id.subscriptionId}/resourceGroups/${id.resourceGroup}`;
    const key = `${served.endpoint.name} ${foldCase(group)}`;
    const share = shares.get(key) ?? { endpoint: served.endpoint, group, asked: [] };
    share.asked.push(resource);
    shares.set(key, share);
  }
  return shares.values();
}

function wireOf({ id, name, type, apiVersion: version, dependsOn, body }: PreflightResource): object {
  return { ...body, id: id.text, name, type, apiVersion: version, dependsOn };
}
