import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { definition, definitionsOf, schemaOfKind } from './definitions.ts';
import { childSchema, itemSchema, resolve } from './resolve.ts';
import type { Schema } from './schema.ts';

const folder = new URL('./data/', import.meta.url);
const all = readdirSync(folder).flatMap((file) =>
  Object.entries(JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Record<string, Schema>),
);

function references(schema: Schema): string[] {
  return [
    ...(schema.$ref === undefined ? [] : [schema.$ref]),
    ...Object.values(schema.properties ?? {}).flatMap(references),
    ...(schema.items ? references(schema.items) : []),
    ...(typeof schema.additionalProperties === 'object' ? references(schema.additionalProperties) : []),
    ...(schema.allOf ?? []).flatMap(references),
  ];
}

test('every definition is found by its name, and everything it refers to', () => {
  assert.ok(all.length > 400);
  assert.equal(new Set(all.map(([name]) => name)).size, all.length, 'each definition stands in one file only');
  for (const [name, schema] of all) {
    assert.ok(definition(name));
    for (const reference of references(schema)) assert.ok(definition(reference), `${name} refers to ${reference}`);
  }
});

test('the data holds no prose and no wrapped references', () => {
  const visit = (schema: Schema): void => {
    assert.equal(schema.description, undefined);
    assert.equal(schema.allOf, undefined);
    for (const child of Object.values(schema.properties ?? {})) visit(child);
    if (schema.items) visit(schema.items);
    if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties);
  };
  for (const [, schema] of all) visit(schema);
  const props = definition('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
  assert.equal(props.properties?.description?.type, 'string', 'a property named description is no prose');
});

test('kinds are found by group, version and kind', () => {
  assert.equal(schemaOfKind('apps', 'v1', 'Deployment'), definition('io.k8s.api.apps.v1.Deployment'));
  assert.equal(schemaOfKind('', 'v1', 'Pod'), definition('io.k8s.api.core.v1.Pod'));
  assert.ok(schemaOfKind('rbac.authorization.k8s.io', 'v1', 'ClusterRole'));
  assert.ok(schemaOfKind('apiregistration.k8s.io', 'v1', 'APIService'));
  assert.ok(schemaOfKind('autoscaling', 'v1', 'Scale'));
  assert.ok(schemaOfKind('apps', 'v1', 'DeleteOptions'), 'options are of every group');
  assert.equal(schemaOfKind('apps', 'v1', 'Pod'), undefined);
  assert.equal(schemaOfKind('toString', 'v1', 'Pod'), undefined);
  assert.ok(definitionsOf('meta').has('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'));
});

test('an unknown name is an error', () => {
  assert.throws(() => definition('io.k8s.api.apps.v1.Nothing'), /Nothing/);
  assert.throws(() => definition('../../x'), /no schema/);
});

test('members and items are walked through references', () => {
  const pod = definition('io.k8s.api.core.v1.Pod');
  const spec = childSchema(pod, 'spec');
  assert.equal(spec?.$ref, 'io.k8s.api.core.v1.PodSpec');
  const containers = spec && childSchema(spec, 'containers');
  const container = containers && itemSchema(containers);
  assert.equal(containers?.['x-kubernetes-patch-merge-key'], 'name');
  assert.equal(container && resolve(container), definition('io.k8s.api.core.v1.Container'));
  const labels = childSchema(definition('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'), 'labels');
  assert.equal(labels && childSchema(labels, 'anything')?.type, 'string');
  assert.equal(childSchema(pod, 'toString'), undefined);
});
