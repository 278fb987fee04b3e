// Admission by webhooks: those that change objects one after the other, those that judge them all at once.
import type { JsonObject, KubeObject } from '../object.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../registry/admission.ts';
import { badRequest, StatusError } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { reviewRequest } from './admission-review.ts';
import { reachesWebhook } from './match-conditions.ts';
import { CallError, type Verdict, type WebhookCaller } from './webhook-call.ts';
import {
  convertedTo,
  isExempt,
  labelsMatch,
  mutatingStorage,
  validatingStorage,
  type Webhook,
  wantedType,
  webhooksOf,
} from './webhook-configurations.ts';

interface Due {
  readonly webhook: Webhook;
  /** Its place among those that are due, for the audit log. */
  readonly index: number;
  /** The version it wants. */
  readonly type: ResourceType;
}

export function webhookPlugins(caller: WebhookCaller): {
  readonly mutating: AdmissionPlugin;
  readonly validating: AdmissionPlugin;
} {
  const concerns =
    (storage: string): AdmissionPlugin['concerns'] =>
    (target, { cluster }) =>
      cluster.objects.count(storage) > 0 &&
      !isExempt(target.type) &&
      webhooksOf(cluster, storage).some((one) => wantedType(one.rules, one.matchPolicy, target, cluster) !== undefined);

  function due(request: AdmissionRequest, storage: string): Due[] {
    const { cluster } = request.context;
    return webhooksOf(cluster, storage)
      .flatMap((webhook) => {
        const type = wantedType(webhook.rules, webhook.matchPolicy, request, cluster);
        return type && matches(webhook, request) ? [{ webhook, type }] : [];
      })
      .map((one, index) => ({ ...one, index }));
  }

  const matches = (webhook: Webhook, request: AdmissionRequest): boolean =>
    labelsMatch(webhook, request) && reachesWebhook(webhook, request);

  /** The verdict, or undefined when the webhook failed and may be passed over. Throws StatusError for a refusal. */
  async function ask(one: Due, request: AdmissionRequest, kind: string, round = 0): Promise<Verdict | undefined> {
    const { webhook, type, index } = one;
    const { cluster, dryRun, signal } = request.context;
    const { name, sideEffects, failurePolicy = 'Fail' } = webhook;
    if (dryRun && sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun') {
      throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
    }
    const review = {
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      request: reviewRequest(request, type),
    };
    let verdict: Verdict;
    try {
      verdict = await caller.call(cluster, webhook, review, signal);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      if (failurePolicy === 'Ignore') {
        cluster.log.warn({ webhook: name, reason: error.message }, 'a webhook failed and is passed over');
        request.context.annotate?.(`failed-open.${kind}.webhook.admission.k8s.io/round_${round}_index_${index}`, name);
        return undefined;
      }
      throw internalError(`failed calling webhook ${JSON.stringify(name)}: failed to call webhook: ${error.message}`);
    }
    for (const [key, value] of Object.entries(verdict.auditAnnotations ?? {})) {
      request.context.annotate?.(`${name}/${key}`, String(value));
    }
    for (const warning of verdict.warnings ?? []) request.context.warn(warning);
    if (!verdict.allowed) throw denied(name, verdict);
    return verdict;
  }

  /** Whether the webhook changed the object. */
  async function change(one: Due, request: AdmissionRequest, round: number): Promise<boolean> {
    const verdict = await ask(one, request, 'mutation', round);
    const mutated = verdict !== undefined && patch(one, request, verdict);
    if (verdict) {
      const { name, configuration = '' } = one.webhook;
      const value = JSON.stringify({ configuration, webhook: name, mutated });
      request.context.annotate?.(`mutation.webhook.admission.k8s.io/round_${round}_index_${one.index}`, value);
    }
    return mutated;
  }

  function patch(one: Due, request: AdmissionRequest, verdict: Verdict): boolean {
    const { object } = request;
    if (!verdict.patch || !object) return false;
    const { name, failurePolicy = 'Fail' } = one.webhook;
    try {
      if (verdict.patchType !== 'JSONPatch')
        throw new CallError(`invalid patch type ${JSON.stringify(verdict.patchType ?? '')}`);
      request.object = patched(one.type, request.type, object, verdict.patch);
    } catch (error) {
      if (failurePolicy === 'Ignore') return false;
      throw internalError(
        `failed calling webhook ${JSON.stringify(name)}: ${error instanceof Error ? error.message : ''}`,
      );
    }
    return JSON.stringify(object) !== JSON.stringify(request.object);
  }

  return {
    mutating: {
      name: 'MutatingAdmissionWebhook',
      waits: true,
      concerns: concerns(mutatingStorage),
      async mutate(request) {
        const called: Due[] = [];
        // Those called before the last change by another, which may want to look again.
        const stale = new Set<Due>();
        for (const one of due(request, mutatingStorage)) {
          if (await change(one, request, 0)) for (const earlier of called) stale.add(earlier);
          called.push(one);
        }
        for (const one of stale) {
          if (one.webhook.reinvocationPolicy !== 'IfNeeded' || !matches(one.webhook, request)) continue;
          await change(one, request, 1);
        }
      },
    },
    validating: {
      name: 'ValidatingAdmissionWebhook',
      waits: true,
      concerns: concerns(validatingStorage),
      async validate(request) {
        const verdicts = await Promise.allSettled(
          due(request, validatingStorage).map((one) => ask(one, request, 'validating')),
        );
        for (const verdict of verdicts) if (verdict.status === 'rejected') throw verdict.reason;
      },
    },
  };
}

/** Applies a patch (base64 of JSON) to the object in the version the webhook saw, and reads the outcome as a body is read. */
function patched(seen: ResourceType, asked: ResourceType, object: KubeObject, patch: string): KubeObject {
  const operations: unknown = JSON.parse(Buffer.from(patch, 'base64').toString());
  const target = structuredClone(convertedTo(asked, seen, object)) as unknown as JsonObject;
  const outcome = applyJsonPatch(target, operations) as JsonObject;
  const back = convertedTo(seen, asked, outcome as unknown as KubeObject);
  const read = asked.strategy.decode?.(back as unknown as JsonObject).object ?? back;
  asked.strategy.defaults?.(read);
  return read;
}

const leastRefusal = 400;

function denied(name: string, { status }: Verdict): StatusError {
  const by = `admission webhook ${JSON.stringify(name)} denied the request`;
  const said = status?.message || status?.reason;
  const code = status?.code ?? 0;
  const message = said ? `${by}: ${said}` : `${by} without explanation`;
  return new StatusError(code < leastRefusal ? leastRefusal : code, status?.reason ?? '', message, status?.details);
}

function internalError(message: string): StatusError {
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}
