// Discovery and OpenAPI documents as bytes, made when first asked for and shared by all clusters that serve the same types.
import type { TypeTable } from '../types/resource-type.ts';
import { type AggregatedVersion, groupDiscoveryList } from './aggregated.ts';
import { groupsOf } from './groups.ts';
import { openapiV2Document } from './openapi-v2.ts';
import { openapiV2Bytes } from './openapi-v2-protobuf.ts';
import { hashOf, openapiV3Document } from './openapi-v3.ts';
import { apiGroup, apiGroupList, apiResourceList } from './plain.ts';

export interface Document {
  readonly bytes: Buffer;
  /** Of the content, in capitals as the server writes it. */
  readonly hash: string;
}

/** How many different sets of types are remembered; a set is dropped when it was not asked for the longest. */
const keptSets = 32;
const sets = new Map<string, Map<string, Document | undefined>>();

function setOf(etag: string): Map<string, Document | undefined> {
  const known = sets.get(etag);
  if (known) {
    sets.delete(etag);
    sets.set(etag, known);
    return known;
  }
  const made = new Map<string, Document | undefined>();
  sets.set(etag, made);
  for (const oldest of sets.keys()) {
    if (sets.size <= keptSets) break;
    sets.delete(oldest);
  }
  return made;
}

function document(table: TypeTable, name: string, make: () => object | Buffer | undefined): Document | undefined {
  const set = setOf(table.etag);
  const known = set.get(name);
  if (known) return known;
  const content = make();
  if (!content) return undefined;
  const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
  const made = { bytes, hash: hashOf(bytes) };
  set.set(name, made);
  return made;
}

/** `/api` or `/apis`, aggregated. */
export const aggregatedDocument = (table: TypeTable, core: boolean, version: AggregatedVersion): Document | undefined =>
  document(table, `aggregated ${core} ${version}`, () => groupDiscoveryList(table, core, version));

/** `/apis`. */
export const groupListDocument = (table: TypeTable): Document | undefined =>
  document(table, 'groups', () => apiGroupList(table));

/** `/apis/<group>`. */
export const groupDocument = (table: TypeTable, group: string): Document | undefined =>
  document(table, `group ${group}`, () => apiGroup(table, group));

/** `/api/v1`, `/apis/<group>/<version>`. */
export const resourceListDocument = (table: TypeTable, group: string, version: string): Document | undefined =>
  document(table, `resources ${group}/${version}`, () => apiResourceList(table, group, version));

/** `/openapi/v3/apis/<group>/<version>`, `/openapi/v3/api/v1`. */
export const openapiV3 = (table: TypeTable, group: string, version: string): Document | undefined =>
  document(table, `openapi ${group}/${version}`, () => openapiV3Document(table, group, version));

/** `/openapi/v3`. */
export const openapiV3Index = (table: TypeTable): Document | undefined =>
  document(table, 'openapi index', () => {
    const paths: [string, object][] = [];
    for (const { group, versions } of groupsOf(table)) {
      for (const { version } of versions) {
        const name = group ? `apis/${group}/${version}` : `api/${version}`;
        const hash = openapiV3(table, group, version)?.hash ?? '';
        paths.push([name, { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` }]);
      }
    }
    return { paths: Object.fromEntries(paths.sort(([one], [other]) => (one < other ? -1 : 1))) };
  });

/** `/openapi/v2` in protobuf. */
export const openapiV2Protobuf = (table: TypeTable): Document | undefined =>
  document(table, 'openapi v2 protobuf', () => openapiV2Bytes(openapiV2Document(table)));

/** `/openapi/v2`. */
export const openapiV2 = (table: TypeTable): Document | undefined =>
  document(table, 'openapi v2', () => openapiV2Document(table));
