// Roles made of others show the rules they are made of: written in the commit that changes one of these.
import { aggregated, type ClusterRole } from '../access/aggregation.ts';
import { rbacStorage } from '../access/default-rbac.ts';
import { roleOf } from '../access/rbac.ts';
import type { Cluster } from '../cluster.ts';
import type { KubeObject } from '../object.ts';
import type { Transaction } from '../objects/objects.ts';
import type { AdmissionPlugin } from '../registry/admission.ts';

const { clusterRoles } = rbacStorage;

export const roleAggregationPlugin: AdmissionPlugin = {
  name: 'ClusterRoleAggregation',
  waits: false,
  concerns: ({ type, subresource }) => type.storage === clusterRoles && subresource === '',
  validate({ operation, context }) {
    if (operation === 'DELETE' && !context.dryRun) aggregateLater(context.cluster);
  },
  account({ object, context }, transaction) {
    if (!object || context.dryRun) return;
    const changed = object as unknown as ClusterRole;
    const name = object.metadata.name ?? '';
    const others = [...transaction.list(clusterRoles)].filter((entry) => entry.name !== name).map(roleOf);
    const roles = sorted([...others, { ...changed, metadata: { name, labels: object.metadata.labels ?? {} } }]);
    if (changed.aggregationRule) object.rules = aggregated(changed.aggregationRule, roles, name);
    rewrite(transaction, roles, name);
  },
};

const sorted = (roles: readonly ClusterRole[]): ClusterRole[] =>
  roles.toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));

/** Writes the aggregating roles whose rules are not what they should be, except the one that is being written anyway. */
function rewrite(transaction: Transaction, roles: readonly ClusterRole[], except: string): void {
  for (const { metadata, aggregationRule } of roles) {
    const { name = '' } = metadata;
    if (!aggregationRule || name === except) continue;
    const rules = aggregated(aggregationRule, roles, name);
    const entry = transaction.get(clusterRoles, '', name);
    if (!entry || JSON.stringify(roleOf(entry).rules) === JSON.stringify(rules)) continue;
    const object = JSON.parse(entry.bytes.toString()) as KubeObject;
    transaction.put(clusterRoles, { ...object, rules });
  }
}

const due = new WeakSet<Cluster>();

function aggregateLater(cluster: Cluster): void {
  if (due.has(cluster)) return;
  due.add(cluster);
  // After the commit that is under way.
  setImmediate(() => {
    due.delete(cluster);
    cluster.objects
      .commit((transaction) => rewrite(transaction, sorted([...transaction.list(clusterRoles)].map(roleOf)), ''))
      .catch((error: unknown) => cluster.log.warn({ err: error }, 'roles could not be aggregated'));
  });
}
