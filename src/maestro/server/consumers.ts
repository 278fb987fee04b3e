// Consumers: the clusters that bundles are sent to. Each is registered before it gets any.
import { randomUUID } from 'node:crypto';
import { isStoreError } from '../../store/errors.ts';
import type { Document } from '../../store/store.ts';
import { type ConsumerDocument, consumerPartition, type Documents } from './documents.ts';
import { MaestroError } from './maestro-error.ts';
import { isDnsLabel, isLabelValue, isQualifiedName } from './manifest-check.ts';

export interface Consumers {
  /** Throws MaestroError: 8 for a name or label that cannot be one, 6 for a name that is taken. */
  create(given: {
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
  }): Promise<ConsumerDocument>;
  /** By its id, not its name. Throws 7. */
  get(id: string): Promise<ConsumerDocument>;
  /** Sets all labels; left out, nothing changes. Throws 7, 8. */
  patch(id: string, labels: Readonly<Record<string, string>> | undefined): Promise<ConsumerDocument>;
  /** Throws 7, and 4 while it has any bundle, also one that is being deleted. */
  delete(id: string): Promise<void>;
  /** Whether bundles can be sent to a consumer of this name. */
  takesBundles(name: string): Promise<boolean>;
  /** All names, page by page. */
  names(): AsyncIterable<string>;
}

/** A look for bundles takes no longer; a mark that is older is of a server that died meanwhile. */
const consumerDeleteMs = 60_000;

export function createConsumers({ consumers, bundles }: Documents): Consumers {
  const keyOf = (name: string) => ({ partition: consumerPartition, id: name });

  async function find(id: string): Promise<Document<ConsumerDocument>> {
    const { documents } = await consumers.query({
      partition: consumerPartition,
      filter: { op: 'eq', field: ['id'], value: id },
      limit: 1,
    });
    const [found] = documents;
    if (found === undefined) throw new MaestroError(7, `Consumer with id='${id}' not found`);
    return found;
  }

  return {
    async create({ name, labels = {} }) {
      const id = randomUUID();
      const chosen = name === undefined || name === '' ? id : name;
      if (!isDnsLabel(chosen)) {
        throw new MaestroError(
          8,
          'name: it must be at most 63 lower case letters, digits and dashes, as that of a namespace',
        );
      }
      checkLabels(labels);
      const now = new Date().toISOString();
      const body: ConsumerDocument = { id, name: chosen, labels, createdAt: now, updatedAt: now };
      try {
        return (await consumers.create(keyOf(chosen), body)).body;
      } catch (error) {
        if (isStoreError(error, 'Exists')) throw new MaestroError(6, 'This Consumer already exists', { cause: error });
        throw error;
      }
    },
    get: async (id) => (await find(id)).body,
    async patch(id, labels) {
      const found = await find(id);
      if (labels === undefined) return found.body;
      checkLabels(labels);
      const updatedAt = new Date().toISOString();
      const { body } = await consumers.update(found, (current) =>
        current.id === id ? { ...current, labels, updatedAt } : undefined,
      );
      return body;
    },
    async delete(id) {
      const found = await find(id);
      const marked = await consumers.replace(found, { ...found.body, deletingAt: new Date().toISOString() });
      if ((await bundles.count({ filter: { op: 'eq', field: ['consumerName'], value: found.body.name } })) === 0) {
        await consumers.delete(marked);
        return;
      }
      const { deletingAt: _, ...rest } = marked.body;
      await consumers.replace(marked, rest);
      throw new MaestroError(4, 'Unable to delete: the consumer still has resource bundles');
    },
    async takesBundles(name) {
      if (!isDnsLabel(name)) return false;
      const found = await consumers.read(keyOf(name));
      const { deletingAt } = found?.body ?? {};
      return (
        found !== undefined && (deletingAt === undefined || Date.parse(deletingAt) + consumerDeleteMs < Date.now())
      );
    },
    async *names() {
      let continuation: string | undefined;
      do {
        const page = await consumers.query({
          partition: consumerPartition,
          limit: 1000,
          ...(continuation === undefined ? {} : { continuation }),
        });
        for (const { body } of page.documents) yield body.name;
        continuation = page.continuation;
      } while (continuation !== undefined);
    },
  };
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(labels)) {
    if (!isQualifiedName(key) || !isLabelValue(value))
      throw new MaestroError(8, 'labels: they must be labels as Kubernetes has them');
  }
}
