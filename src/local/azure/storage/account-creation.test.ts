// The creation of storage accounts where it takes time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAzure } from '../testing/start-azure.ts';
import { accountVersion } from './testing/account.ts';

test('an account that is being made is polled at its Location', async (t) => {
  const { call, control, subscription } = await startAzure(t, { profile: 'demo' });
  const group = `${subscription}/resourceGroups/g`;
  await call(group, { method: 'PUT', body: { location: 'eastus' } });
  const id = `${group}/providers/Microsoft.Storage/storageAccounts/accountinmaking`;
  const made = await call(`${id}?api-version=${accountVersion}`, {
    method: 'PUT',
    body: {
      location: 'eastus',
      sku: { name: 'Standard_LRS' },
      kind: 'StorageV2',
      identity: { type: 'SystemAssigned' },
    },
  });
  assert.equal(made.status, 202, made.text);
  assert.equal(made.headers['azure-asyncoperation'], undefined);
  const { pathname, search } = new URL(String(made.headers.location));
  const waiting = await call(`${pathname}${search}`);
  assert.equal(waiting.status, 202, waiting.text);
  assert.equal(new URL(String(waiting.headers.location)).pathname, pathname);
  await control('/time', { method: 'POST', body: { advanceMs: 3_600_000 } });
  const there = await call(`${pathname}${search}`);
  assert.equal(there.status, 200, there.text);
  assert.equal(there.json?.id, id);
  const identity = there.json?.identity as { readonly principalId?: string } | undefined;
  assert.match(identity?.principalId ?? '', /^[0-9a-f-]{36}$/);
});
