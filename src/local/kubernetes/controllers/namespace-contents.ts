// What every namespace has: the service account `default` and the certificate authority of the cluster.
import type { KubeObject } from '../object.ts';
import type { Controller, Trigger } from './controller.ts';
import { copyOf, type Hands, isAlreadyExists } from './hands.ts';
import { configMaps, type Kind, namespaces, serviceAccounts } from './kinds.ts';

const rootCaName = 'kube-root-ca.crt';
const defaultAccount = 'default';

const takesContent = (hands: Hands, namespace: string): boolean => {
  const found = hands.get(namespaces, '', namespace);
  return found !== undefined && found.metadata.deletionTimestamp === undefined;
};

async function ensure<T extends KubeObject>(write: Promise<T>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

const added: Trigger = ({ kind, entry }) => (kind === 'ADDED' ? [entry] : []);

/** Changes of an object of this name are for its namespace. */
const named =
  (name: string, kinds: readonly string[]): Trigger =>
  ({ kind, entry }) =>
    entry.name === name && kinds.includes(kind) ? [{ namespace: '', name: entry.namespace }] : [];

export const serviceAccountsController: Controller = {
  name: 'service-account-controller',
  triggers: {
    [namespaces.type.storage]: added,
    [serviceAccounts.type.storage]: named(defaultAccount, ['DELETED']),
  },
  async reconcile(hands, { name: namespace }) {
    if (!takesContent(hands, namespace) || hands.get(serviceAccounts, namespace, defaultAccount)) return undefined;
    await ensure(hands.create(serviceAccounts, namespace, { metadata: { name: defaultAccount } }));
    return undefined;
  },
};

export const rootCaPublisher: Controller = {
  name: 'root-ca-cert-publisher',
  triggers: {
    [namespaces.type.storage]: added,
    [configMaps.type.storage]: named(rootCaName, ['MODIFIED', 'DELETED']),
  },
  async reconcile(hands, { name: namespace }) {
    if (!takesContent(hands, namespace)) return undefined;
    const data = { 'ca.crt': await hands.cluster.ca() };
    const found = hands.get(configMaps, namespace, rootCaName);
    if (!found) {
      await ensure(hands.create(configMaps as Kind<KubeObject>, namespace, { metadata: { name: rootCaName }, data }));
    } else if (found.data?.['ca.crt'] !== data['ca.crt'] || Object.keys(found.data).length !== 1) {
      await hands.update(configMaps, { ...copyOf(found), data });
    }
    return undefined;
  },
};
