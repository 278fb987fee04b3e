// Kubeconfigs of clusters, which lead through the cloud's proxy to the name that the cluster has in Azure.
import type { ResourceId } from '../../../arm/resource-id.ts';
import type { KubeconfigUser } from '../../kubernetes/kubeconfig.ts';
import { textOf } from '../kept-members.ts';
import type { Action } from '../kernel/provider.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { clusterHost } from './cluster-host.ts';
import { badRequest } from './errors.ts';

const port = 443;

/** Answers `{ kubeconfigs: [{ name, value }] }` for a user with a certificate of these groups. */
export function listCredential(name: string, groups: readonly string[]): Action {
  return {
    async run({ world, id, record }) {
      if (record.resource.properties?.disableLocalAccounts === true)
        throw badRequest(
          'BadRequest',
          'Getting static credential is not allowed because this cluster is set to disable local accounts.',
        );
      const text = await kubeconfig(world, id, record, { name, groups });
      return { kubeconfigs: [{ name, value: Buffer.from(text).toString('base64') }] };
    },
  };
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { readonly [name: string]: string } }[];
  readonly users: readonly { readonly user: { readonly [name: string]: string } }[];
}

async function kubeconfig(world: World, id: ResourceId, record: ResourceRecord, user: KubeconfigUser): Promise<string> {
  const hosted = await (await clusterHost(world)).ensure(record);
  await hosted.firstUse();
  // Loaded when they are needed: issuing certificates takes longer to load than a cloud to start.
  const { parse, stringify } = await import('yaml');
  const { kubeconfigOf } = await import('../../kubernetes/kubeconfig.ts');
  const issued = parse((await kubeconfigOf(hosted, user)).text.reveal()) as Kubeconfig;
  const { name } = record.resource;
  const isAdmin = user.name === 'clusterAdmin';
  const userName = `${user.name}_${id.resourceGroup ?? ''}_${name}`;
  const context = isAdmin ? `${name}-admin` : name;
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name,
          cluster: {
            'certificate-authority-data': issued.clusters[0]?.cluster['certificate-authority-data'],
            server: `https://${textOf(record.resource.properties?.fqdn)}:${port}`,
            'proxy-url': world.cloud.proxy,
          },
        },
      ],
      contexts: [{ name: context, context: { cluster: name, user: userName } }],
      'current-context': context,
      preferences: {},
      users: [{ name: userName, user: issued.users[0]?.user }],
    },
    { lineWidth: 0 },
  );
}
