// The admission chain of a cluster, in the server's order. What a namespace must be for something to be created in it is
// checked by the registry itself.
import type { Access } from '../access/access.ts';
import type { AdmissionPlugin } from '../registry/admission.ts';
import { certificatePlugins } from './certificates.ts';
import { defaultClassPlugins } from './default-classes.ts';
import { defaultTolerationsPlugin } from './default-tolerations.ts';
import { limitRangerPlugin } from './limit-ranger.ts';
import { policyPlugin } from './policies.ts';
import { expressionsPlugin } from './policy-expressions.ts';
import { priorityPlugin } from './priority.ts';
import { escalationPlugin } from './rbac-escalation.ts';
import { resourceQuotaPlugin } from './resource-quota.ts';
import { roleAggregationPlugin } from './role-aggregation.ts';
import { awaitDefaultAccount, serviceAccountPlugin } from './service-account.ts';
import { storageInUsePlugin } from './storage-in-use.ts';
import type { WebhookCaller } from './webhook-call.ts';
import { webhookPlugins } from './webhooks.ts';

export interface AdmissionOptions {
  readonly access: Access;
  /** Shared by all clusters; left out, no webhook is called. */
  readonly webhooks?: WebhookCaller;
}

export function admissionPlugins(options: AdmissionOptions): readonly AdmissionPlugin[] {
  const { access, webhooks } = options;
  const called = webhooks && webhookPlugins(webhooks);
  return [
    limitRangerPlugin,
    awaitDefaultAccount,
    serviceAccountPlugin,
    priorityPlugin,
    defaultTolerationsPlugin,
    ...defaultClassPlugins,
    storageInUsePlugin,
    ...certificatePlugins(access),
    expressionsPlugin,
    ...(called ? [called.mutating] : []),
    escalationPlugin(access),
    policyPlugin,
    ...(called ? [called.validating] : []),
    resourceQuotaPlugin,
    roleAggregationPlugin,
  ];
}
