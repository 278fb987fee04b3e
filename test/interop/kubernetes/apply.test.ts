// Our field tracking, server-side apply and patches against what a real kube-apiserver answered (recorded/apply.json, made by
// record-apply.ts).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { applyConfiguration } from '../../../src/local/kubernetes/apply/apply-configuration.ts';
import type { TrackedType } from '../../../src/local/kubernetes/apply/ownership.ts';
import { resetFieldsOf } from '../../../src/local/kubernetes/apply/reset-fields.ts';
import { keepTimesOfNoChange, trackUpdate } from '../../../src/local/kubernetes/apply/track-update.ts';
import type { JsonObject, JsonValue, KubeObject, ManagedFieldsEntry } from '../../../src/local/kubernetes/object.ts';
import { applyJsonPatch } from '../../../src/local/kubernetes/patch/json-patch.ts';
import { isObject } from '../../../src/local/kubernetes/patch/json-tree.ts';
import { applyMergePatch } from '../../../src/local/kubernetes/patch/merge-patch.ts';
import { applyStrategicMergePatch } from '../../../src/local/kubernetes/patch/strategic-merge-patch.ts';
import { schemaOfKind } from '../../../src/local/kubernetes/schema/definitions.ts';
import type { Schema } from '../../../src/local/kubernetes/schema/schema.ts';
import { StatusError } from '../../../src/local/kubernetes/status.ts';
import { type Resource, resources, type Step } from './apply-cases/case.ts';
import { customSchemas } from './apply-cases/custom-resources.ts';

interface Recorded {
  readonly name: string;
  readonly resource: Resource;
  readonly live: KubeObject | null;
  readonly request: { verb: Step['verb']; manager: string; force: boolean; subresource: string; body: JsonValue };
  readonly status: number;
  readonly result: KubeObject;
}

const recorded = JSON.parse(
  readFileSync(new URL('./recorded/apply.json', import.meta.url), 'utf8'),
) as readonly Recorded[];

/** What the server fills in before it tracks fields. Only these members may be missing from what we compute. */
const defaults = new Set(
  `replicas revisionHistoryLimit progressDeadlineSeconds strategy type rollingUpdate maxSurge maxUnavailable partition
  updateStrategy podManagementPolicy persistentVolumeClaimRetentionPolicy restartPolicy terminationGracePeriodSeconds dnsPolicy
  securityContext schedulerName enableServiceLinks resources terminationMessagePath terminationMessagePolicy imagePullPolicy
  protocol targetPort sessionAffinity internalTrafficPolicy concurrencyPolicy suspend successfulJobsHistoryLimit
  failedJobsHistoryLimit volumeMode persistentVolumeReclaimPolicy reclaimPolicy volumeBindingMode apiGroup failurePolicy
  matchPolicy namespaceSelector objectSelector timeoutSeconds conditions defaultRequest default whenDeleted
  whenScaled policyTypes apiVersion fieldRef defaultMode unhealthyPodEvictionPolicy`.split(/\s+/),
);

/** What the server makes of an object after it tracked the fields: its own, or given out by it. */
const serverOwned: Readonly<Record<string, readonly string[]>> = {
  metadata: ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields', 'namespace', 'name'],
  spec: ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'username', 'uid', 'groups', 'extra'],
};

/** `object` with the defaults that `result` has and it has not. */
function defaulted(object: JsonValue, result: JsonValue | undefined): JsonValue {
  if (Array.isArray(object)) {
    const items = Array.isArray(result) && result.length === object.length ? result : [];
    return object.map((item, index) => defaulted(item, items[index]));
  }
  if (!isObject(object) || !isObject(result)) return object;
  const filled: JsonObject = {};
  for (const [member, value] of Object.entries(object)) filled[member] = defaulted(value, result[member]);
  for (const [member, value] of Object.entries(result)) {
    if (defaults.has(member) && (filled[member] === undefined || filled[member] === null)) filled[member] = value;
  }
  return filled;
}

/** An object without what the server owns and without what says nothing. */
function comparable(object: KubeObject, reset: readonly string[]): JsonValue {
  const bare: JsonObject = {};
  for (const [member, value] of Object.entries(object as unknown as JsonObject)) {
    if (reset.includes(member)) continue;
    const owned = serverOwned[member];
    bare[member] =
      owned && isObject(value)
        ? Object.fromEntries(Object.entries(value).filter(([name]) => !owned.includes(name)))
        : value;
  }
  return said(bare) ?? {};
}

function said(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => said(item) ?? null);
  if (!isObject(value)) return value === null ? undefined : value;
  const entries = Object.entries(value).flatMap(([member, content]) => {
    const rest = said(content);
    return rest === undefined ? [] : [[member, rest] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function typeOf({ resource, request }: Recorded): TrackedType {
  const { group, version, kind, status, custom } = resources[resource];
  const schema = custom
    ? (customSchemas[resource as keyof typeof customSchemas] as unknown as Schema)
    : schemaOfKind(group, version, kind);
  assert.ok(schema);
  const { subresource } = request;
  return {
    apiVersion: group ? `${group}/${version}` : version,
    kind,
    schema,
    custom,
    subresource,
    reset: resetFieldsOf({ group, plural: resource, subresource, hasStatus: status, custom }),
  };
}

const entriesOf = (object: KubeObject | null): readonly ManagedFieldsEntry[] => object?.metadata?.managedFields ?? [];

/** The time of the request: the one that the answer has and the object before it had not. */
function timeOf({ live, result }: Recorded): string {
  const before = new Set(entriesOf(live).map(({ time }) => time));
  return entriesOf(result).find(({ time }) => time !== undefined && !before.has(time))?.time ?? '2100-01-01T00:00:00Z';
}

function bodyOf(body: JsonValue): JsonValue {
  return isObject(body) && body.repeat !== undefined
    ? Array.from({ length: body.times as number }, () => body.repeat as JsonValue)
    : body;
}

function patched({ live, request }: Recorded, schema: Schema): JsonValue {
  const target = (live ?? {}) as unknown as JsonObject;
  const body = bodyOf(request.body);
  switch (request.verb) {
    case 'json':
      return applyJsonPatch(target, body);
    case 'strategic':
      return applyStrategicMergePatch(target, body, schema);
    case 'merge':
      return applyMergePatch(target, body);
    default:
      return body;
  }
}

/** What our side makes of a request. */
function answer(found: Recorded): KubeObject {
  const type = typeOf(found);
  const { live, request, result } = found;
  const now = timeOf(found);
  if (request.verb === 'apply') {
    const config = request.body as JsonObject;
    const applied = applyConfiguration({
      type,
      live: live ?? undefined,
      config,
      manager: request.manager,
      force: request.force,
      now,
    });
    return defaulted(applied as unknown as JsonObject, result as unknown as JsonObject) as unknown as KubeObject;
  }
  const object = defaulted(patched(found, type.schema), result as unknown as JsonObject) as unknown as KubeObject;
  return trackUpdate({ type, live: live ?? undefined, object, manager: request.manager, now });
}

/** Refusals of a later stage, which is not tested here: decoding and validation of the object that came out. */
const isLaterStage = ({ message = '' }: { message?: string }): boolean => / is invalid: /.test(message);

/** The server names several errors in no particular order. */
const lines = (message = ''): string[] => message.split('\n').sort();

/** The server names the causes of several managers in no particular order. */
function sortedCauses(status: StatusError['status']): JsonValue {
  const plain = JSON.parse(JSON.stringify(status)) as JsonObject;
  const details = isObject(plain.details) ? plain.details : {};
  if (Array.isArray(details.causes)) details.causes.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return plain;
}

describe('what a real API server answered', () => {
  for (const found of recorded) {
    test(found.name, () => {
      if (found.status >= 300) {
        const expected = found.result as unknown as StatusError['status'];
        assert.ok(!isLaterStage(expected), 'the case is refused by validation, which is not what is tested here');
        assert.throws(
          () => answer(found),
          (error: unknown) => {
            assert.ok(error instanceof StatusError, String(error));
            // A fault of the client's that the server answers with a bare 500 is a bad request here.
            const { status } = error;
            if (found.status === 500) {
              assert.deepEqual(lines(status.message), lines(expected.message));
              assert.equal(status.code, 400);
            } else assert.deepEqual(sortedCauses(status), sortedCauses(expected));
            return true;
          },
        );
        return;
      }
      const ours = answer(found);
      const { subresource } = found.request;
      const reset = subresource === '' ? ['status'] : subresource === 'scale' ? [] : ['spec', 'metadata'];
      assert.deepEqual(comparable(ours, reset), comparable(found.result, reset));
      assert.deepEqual(entriesOf(ours), entriesOf(found.result));
      const written = (object: KubeObject) => entriesOf(object).map(({ fieldsV1 }) => JSON.stringify(fieldsV1));
      assert.deepEqual(written(ours), written(found.result), 'fields are written in order');
      if (found.live && found.result.metadata.resourceVersion === found.live.metadata.resourceVersion) {
        const kept = keepTimesOfNoChange(found.live, ours);
        assert.deepEqual(kept.metadata.managedFields, found.live.metadata.managedFields);
      }
    });
  }
});
