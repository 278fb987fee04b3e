// What every store must do, whatever database it stands on. An adapter's test file calls this with a way to make a database.
import { describe } from 'node:test';
import { batches } from './conformance/batches.ts';
import { feeds } from './conformance/feed.ts';
import { filterProperties } from './conformance/filter-properties.ts';
import { filters } from './conformance/filters.ts';
import { keysAndLabels } from './conformance/keys-and-labels.ts';
import { leases } from './conformance/leases.ts';
import { modelled } from './conformance/model.ts';
import { paging } from './conformance/paging.ts';
import { refusals } from './conformance/refusals.ts';
import { sealedFields } from './conformance/sealed.ts';
import { timeToLive } from './conformance/time-to-live.ts';
import { unknownFields } from './conformance/unknown-fields.ts';
import { verbs } from './conformance/verbs.ts';
import { type TestDatabase, worldOf } from './conformance/world.ts';

const topics = {
  verbs,
  refusals,
  filters,
  filterProperties,
  paging,
  keysAndLabels,
  batches,
  timeToLive,
  unknownFields,
  sealedFields,
  feeds,
  leases,
  modelled,
};

/** Runs the whole suite, each topic on a database of its own that `database` makes. */
export function storeConformance(name: string, database: () => Promise<TestDatabase>): void {
  describe(`${name} as a document store`, () => {
    for (const [topic, tests] of Object.entries(topics)) {
      describe(topic, () => {
        tests(worldOf(database));
      });
    }
  });
}
