// Our types make of an object what a real kube-apiserver made of it, and refuse what it refused in the same words.
// record-types.ts renews the recording.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { JsonObject, JsonValue, KubeObject } from '../../../src/local/kubernetes/object.ts';
import { applyMergePatch } from '../../../src/local/kubernetes/patch/merge-patch.ts';
import type { RequestContext } from '../../../src/local/kubernetes/request-context.ts';
import { type FieldError, invalid, StatusError } from '../../../src/local/kubernetes/status.ts';
import type { ResourceType } from '../../../src/local/kubernetes/types/resource-type.ts';
import { createTypeTable } from '../../../src/local/kubernetes/types/table.ts';
import type { CreateCase } from './type-cases/case.ts';
import { acceptedCreates, refusedCreates, refusedUpdates } from './type-cases/cases.ts';

type Recording = Readonly<Record<string, JsonObject>>;
const recording = (name: string): Recording =>
  JSON.parse(readFileSync(new URL(`./data/types-${name}.json`, import.meta.url), 'utf8')) as Recording;

const types = createTypeTable();
const context = {
  cluster: { now: () => Date.UTC(2024, 0, 1) },
  user: { name: 'admin', uid: '1', groups: ['system:masters', 'system:authenticated'] },
} as unknown as RequestContext;

function typeOf({ resource }: CreateCase): ResourceType {
  const [plural = '', version = '', group = ''] = resource.split('/').reverse();
  const type = types.find(group, version, plural);
  assert.ok(type, resource);
  return type;
}

const uid = '00000000-0000-0000-0000-000000000001';

/** What the registry does with a new object, as far as types are concerned. */
function create(type: ResourceType, body: JsonObject): KubeObject {
  const decoded = type.strategy.decode?.(structuredClone(body));
  assert.ok(decoded);
  const { object } = decoded;
  type.strategy.defaults?.(object);
  if (type.namespaced) object.metadata.namespace = 'default';
  object.metadata.uid = uid;
  if (type.strategy.generation === false) delete object.metadata.generation;
  else object.metadata.generation = 1;
  type.strategy.prepareCreate?.(object, context);
  refuse(type, object, type.strategy.validate?.(object) ?? []);
  return object;
}

function refuse(type: ResourceType, { metadata }: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(type, metadata.name ?? '', errors);
}

/** Replaces what differs from run to run: uids, times, generated names. */
const steady = (value: JsonValue): JsonValue =>
  JSON.parse(
    JSON.stringify(value)
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
      .replace(/20(24-01-01|26-\d\d-\d\d)T\d\d:\d\d:\d\dZ/g, '<time>'),
  ) as JsonValue;

/** Of an object that was created, what is the types' own doing: addresses and node ports are admission's. */
function comparable(object: JsonObject): JsonValue {
  const copy = structuredClone(object);
  delete (copy.metadata as JsonObject).uid;
  const spec = copy.spec as JsonObject | undefined;
  if (copy.kind === 'Service' && spec) {
    if (spec.clusterIP !== 'None') {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    for (const port of (spec.ports ?? []) as JsonObject[]) delete port.nodePort;
  }
  return steady(copy);
}

describe('what the server makes of objects', () => {
  const recorded = recording('accepted');
  test('there are at least forty kinds', () => {
    assert.ok(new Set(acceptedCreates.map(({ resource }) => resource)).size >= 40);
    assert.deepEqual(
      Object.keys(recorded),
      acceptedCreates.map(({ name }) => name),
    );
  });
  for (const each of acceptedCreates) {
    test(each.name, () => {
      const type = typeOf(each);
      const object = create(type, each.body);
      assert.deepEqual(comparable(object as unknown as JsonObject), comparable(recorded[each.name] ?? {}));
      // What comes back is taken again as it is.
      const again = type.strategy.decode?.(structuredClone(object) as unknown as JsonObject);
      assert.deepEqual(again?.unknown, []);
      if (again) type.strategy.defaults?.(again.object);
      assert.deepEqual(again?.object, object);
    });
  }
});

/** Differences of two states of a spec are printed by the real server; we leave them out, and values of internal types. */
const withoutDiff = (text: string): string =>
  text
    .replace(/\n(?:@@| |[-+])[\s\S]*?(?=, \w+: |\]$|$)/g, '')
    .replace(/spec\.template: Invalid value: .*?: field is immutable/, 'spec.template: field is immutable')
    .replace(/securityContext: Invalid value: \{.*?\}: cannot/, 'securityContext: cannot')
    .replace(/ \n?$/, '');

function answerOf(work: () => unknown): { code: number; reason: string; message: string; causes: unknown } {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    const { code, reason = '', message = '', details } = error.status;
    return { code, reason, message, causes: details?.causes ?? [] };
  }
  throw new assert.AssertionError({ message: 'it was not refused' });
}

/** Causes in any order, as maps are walked in an order of their own; each once, as the real server repeats some. */
const causesOf = (causes: unknown): string[] =>
  [
    ...new Set(
      ((causes ?? []) as JsonObject[]).map(({ reason, field, message }) =>
        steadyText(`${reason} ${field}: ${message}`),
      ),
    ),
  ].sort();

const steadyText = (text: string): string =>
  withoutDiff(text)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
    .replace(/"u\d+"/g, '"x"');

function compare(answer: ReturnType<typeof answerOf>, recorded: JsonObject): void {
  assert.equal(answer.code, recorded.code);
  assert.equal(answer.reason, recorded.reason);
  const details = recorded.details as JsonObject | null;
  assert.deepEqual(causesOf(answer.causes), causesOf(details?.causes));
  assert.equal(steadyText(answer.message), steadyText(String(recorded.message)));
}

describe('what the server refuses to create', () => {
  const recorded = recording('refusedCreates');
  for (const each of refusedCreates) {
    const name = `${each.resource} ${each.name}`;
    test(name, () => {
      // The registry makes a name of generateName before anything is checked.
      const metadata = each.body.metadata as JsonObject;
      if (metadata.generateName) metadata.name = /"(A_\w+)"/.exec(String(recorded[name]?.message))?.[1] ?? '';
      compare(
        answerOf(() => create(typeOf(each), each.body)),
        recorded[name] ?? {},
      );
    });
  }
});

describe('what the server refuses to change', () => {
  const recorded = recording('refusedUpdates');
  for (const each of refusedUpdates) {
    const name = `${each.resource} ${each.name}`;
    test(name, () => {
      const type = typeOf(each);
      const old = create(type, each.body);
      const wanted = applyMergePatch(structuredClone(old) as never, each.change as never) as JsonObject;
      const decoded = type.strategy.decode?.(wanted);
      assert.ok(decoded);
      const { object } = decoded;
      type.strategy.defaults?.(object);
      type.strategy.prepareUpdate?.(object, old, context);
      compare(
        answerOf(() => refuse(type, object, type.strategy.validateUpdate?.(object, old) ?? [])),
        recorded[name] ?? {},
      );
    });
  }
});
