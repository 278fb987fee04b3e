// What a cloud remembers of itself beside its resources: the time that was skipped.
import { isStoreError } from '../../store/errors.ts';
import type { Store } from '../../store/store.ts';

interface Settings {
  readonly skippedMs: number;
}

export interface KeptSettings {
  readonly skippedMs: number;
  keepSkipped(skippedMs: number): Promise<void>;
}

const key = { partition: 'cloud', id: 'settings' } as const;

export async function openSettings(store: Store): Promise<KeptSettings> {
  const container = await store.container<Settings>({ name: 'cloud_settings' });
  const kept = await container.read(key);
  return {
    skippedMs: kept?.body.skippedMs ?? 0,
    async keepSkipped(skippedMs) {
      try {
        await container.update(key, (body) => ({ ...body, skippedMs }));
      } catch (error) {
        if (!isStoreError(error, 'NotFound')) throw error;
        await container.create(key, { skippedMs });
      }
    },
  };
}
