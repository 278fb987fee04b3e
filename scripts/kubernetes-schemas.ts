// Writes the schemas of Kubernetes' built-in types to src/local/kubernetes/schema/data from the OpenAPI v3 documents of a real
// kube-apiserver:   node scripts/kubernetes-schemas.ts <folder with the answers of /openapi/v3/api/v1, …/apis/apps/v1, …>
//
// Every definition is written once, in the file of the group it belongs to, without prose. `allOf: [{ $ref }]` becomes `$ref`
// (what stood beside it stays beside it) and `#/components/schemas/x` becomes `x`.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

// Package of a definition and the file it goes to. Definitions of other packages are left out.
const files: readonly (readonly [prefix: string, file: string])[] = [
  ['io.k8s.apimachinery.', 'meta'],
  ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.', 'apiextensions'],
  ['io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.', 'apiregistration'],
  ['io.k8s.api.autoscaling.v1.Scale', 'autoscaling'],
  ...[
    'core',
    'apps',
    'batch',
    'rbac',
    'coordination',
    'discovery',
    'certificates',
    'admissionregistration',
    'authentication',
    'authorization',
    'networking',
    'policy',
    'scheduling',
    'storage',
    'events',
  ].map((name) => [`io.k8s.api.${name}.v1.`, name] as const),
];

const refPrefix = '#/components/schemas/';

/** `named` says that the members are names of properties, not words of the schema language. */
function clean(value: Json, named = false): Json {
  if (Array.isArray(value)) return value.map((item) => clean(item));
  if (value === null || typeof value !== 'object') return value;
  const result: { [member: string]: Json } = {};
  const only = Array.isArray(value.allOf) && value.allOf.length === 1 ? value.allOf[0] : undefined;
  const wrapped = !named && only !== null && typeof only === 'object' && !Array.isArray(only) ? only?.$ref : undefined;
  const source = typeof wrapped === 'string' ? { ...value, $ref: wrapped } : value;
  for (const member of Object.keys(source).sort()) {
    const content = source[member];
    if (content === undefined) continue;
    if (named) result[member] = clean(content);
    else if (member === 'description' || (member === 'allOf' && typeof wrapped === 'string')) continue;
    else if (member === '$ref') result[member] = String(content).replace(refPrefix, '');
    else if (member === 'default' || member === 'enum') result[member] = content;
    else result[member] = clean(content, member === 'properties');
  }
  return result;
}

const [source] = process.argv.slice(2);
if (!source) {
  console.error('usage: node scripts/kubernetes-schemas.ts <folder of OpenAPI v3 documents>');
  process.exit(2);
}
const target = join(import.meta.dirname, '../src/local/kubernetes/schema/data');
const found = new Map<string, Map<string, Json>>();
for (const name of readdirSync(source)
  .filter((file) => file.endsWith('.json'))
  .sort()) {
  const document = JSON.parse(readFileSync(join(source, name), 'utf8')) as {
    components?: { schemas?: Record<string, Json> };
  };
  for (const [definition, schema] of Object.entries(document.components?.schemas ?? {})) {
    const file = files.find(([prefix]) => definition.startsWith(prefix))?.[1];
    if (!file) continue;
    const definitions = found.get(file) ?? new Map<string, Json>();
    found.set(file, definitions);
    definitions.set(definition, clean(schema));
  }
}

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
for (const [file, definitions] of found) {
  const lines = [...definitions]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `${JSON.stringify(name)}:${JSON.stringify(schema)}`);
  writeFileSync(join(target, `${file}.json`), `{\n${lines.join(',\n')}\n}\n`);
  console.log(`${file}.json: ${lines.length} definitions`);
}
