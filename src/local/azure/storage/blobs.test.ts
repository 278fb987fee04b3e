// Blobs with Azure's own SDK.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { attachAccount, collect, startAccount, textOf } from './testing/account.ts';

test('containers and blobs work with the SDK unchanged', async (t) => {
  const { service, azure } = await startAccount(t);
  const container = service.getContainerClient('things');

  await t.test('containers are made once, listed, changed and deleted', async () => {
    await container.create({ metadata: { a: 'b' } });
    await assert.rejects(container.create(), { statusCode: 409, code: 'ContainerAlreadyExists' });
    assert.deepEqual((await container.getProperties()).metadata, { a: 'b' });
    await service.createContainer('other');
    assert.deepEqual(
      (await collect(service.listContainers())).map(({ name }) => name),
      ['other', 'things'],
    );
    await service.deleteContainer('other');
    await assert.rejects(service.getContainerClient('other').getProperties(), { statusCode: 404 });
    await assert.rejects(service.createContainer('Not-Valid'), { statusCode: 400, code: 'InvalidResourceName' });
  });

  await t.test('a blob comes back as it was written, with its headers and metadata', async () => {
    const blob = container.getBlockBlobClient('folder/a b+ü.txt');
    const made = await blob.upload('hello', 5, {
      blobHTTPHeaders: { blobContentType: 'text/plain', blobCacheControl: 'no-store' },
      metadata: { kind: 'greeting' },
      tags: { colour: 'red' },
    });
    assert.ok(made.etag);
    const got = await blob.download();
    assert.equal(await textOf(got.readableStreamBody), 'hello');
    assert.equal(got.contentType, 'text/plain');
    assert.equal(got.cacheControl, 'no-store');
    assert.deepEqual(got.metadata, { kind: 'greeting' });
    assert.equal(got.etag, made.etag);
    assert.equal(Buffer.from(got.contentMD5 ?? []).toString('hex'), createHash('md5').update('hello').digest('hex'));
    assert.equal(await textOf((await blob.download(1, 3)).readableStreamBody), 'ell');
    await assert.rejects(blob.download(10, 3), { statusCode: 416 });
    assert.deepEqual((await blob.getTags()).tags, { colour: 'red' });
    await blob.setTags({ colour: 'blue' });
    assert.deepEqual((await blob.getTags()).tags, { colour: 'blue' });
    await assert.rejects(container.getBlobClient('none').download(), { statusCode: 404, code: 'BlobNotFound' });
    assert.equal(await container.getBlobClient('none').exists(), false);
  });

  await t.test('conditions are held', async () => {
    const blob = container.getBlockBlobClient('conditional');
    const { etag = '' } = await blob.upload('1', 1);
    await assert.rejects(blob.upload('2', 1, { conditions: { ifNoneMatch: '*' } }), {
      statusCode: 409,
      code: 'BlobAlreadyExists',
    });
    await blob.upload('2', 1, { conditions: { ifMatch: etag } });
    await assert.rejects(blob.upload('3', 1, { conditions: { ifMatch: etag } }), {
      statusCode: 412,
      code: 'ConditionNotMet',
    });
    await assert.rejects(blob.getProperties({ conditions: { ifNoneMatch: '*' } }), { statusCode: 304 });
    assert.equal(await textOf((await blob.download()).readableStreamBody), '2');
  });

  await t.test('large contents go through blocks and come back whole and in parts', async () => {
    const bytes = randomBytes(9 * 1024 * 1024);
    const blob = container.getBlockBlobClient('large');
    await blob.uploadData(bytes, { blockSize: 2 * 1024 * 1024, maxSingleShotSize: 1024 });
    assert.equal((await blob.getProperties()).contentLength, bytes.length);
    assert.ok((await blob.downloadToBuffer()).equals(bytes));
    const part = await blob.downloadToBuffer(2 * 1024 * 1024 - 5, 10);
    assert.ok(part.equals(bytes.subarray(2 * 1024 * 1024 - 5, 2 * 1024 * 1024 + 5)));
    assert.equal((await blob.getBlockList('all')).committedBlocks?.length, 5);
    const small = container.getBlockBlobClient('small-blocks');
    const ids = ['a', 'b'].map((id) => Buffer.from(id).toString('base64'));
    for (const id of ids) await small.stageBlock(id, id, id.length);
    await assert.rejects(small.commitBlockList([...ids, Buffer.from('c').toString('base64')]), {
      code: 'InvalidBlockList',
    });
    await small.commitBlockList([...ids].reverse());
    assert.equal(await textOf((await small.download()).readableStreamBody), [...ids].reverse().join(''));
  });

  await t.test('lists go by prefix and delimiter, in pages', async () => {
    for (const name of ['x/1', 'x/2', 'x/y/3', 'z']) await container.getBlockBlobClient(name).upload('v', 1);
    const flat = await collect(container.listBlobsFlat({ prefix: 'x/' }));
    assert.deepEqual(
      flat.map(({ name }) => name),
      ['x/1', 'x/2', 'x/y/3'],
    );
    const items = await collect(container.listBlobsByHierarchy('/'));
    assert.deepEqual(
      items.map(({ kind, name }) => [kind, name]),
      [
        ['prefix', 'folder/'],
        ['prefix', 'x/'],
        ['blob', 'conditional'],
        ['blob', 'large'],
        ['blob', 'small-blocks'],
        ['blob', 'z'],
      ],
    );
    const pages = await collect(container.listBlobsFlat().byPage({ maxPageSize: 2 }));
    const names = pages.flatMap((page) => page.segment.blobItems.map(({ name }) => name));
    assert.equal(names.length, 8);
    assert.deepEqual(names, [...names].sort());
    assert.ok(pages.every((page) => page.segment.blobItems.length <= 2));
  });

  await t.test('a lease keeps others from writing until it ends', async () => {
    const blob = container.getBlockBlobClient('leased');
    await blob.upload('1', 1);
    const lease = blob.getBlobLeaseClient();
    const { leaseId = '' } = await lease.acquireLease(15);
    await assert.rejects(blob.upload('2', 1), { statusCode: 412, code: 'LeaseIdMissing' });
    await assert.rejects(blob.getBlobLeaseClient().acquireLease(15), { statusCode: 409, code: 'LeaseAlreadyPresent' });
    await blob.upload('2', 1, { conditions: { leaseId } });
    await lease.renewLease();
    await azure.world.clock.advance(16_000);
    await blob.upload('3', 1);
    assert.equal((await blob.getProperties()).leaseState, 'expired');
  });

  await t.test('blobs are copied, appended to, deleted one by one and many at once', async () => {
    const source = container.getBlockBlobClient('source');
    await source.upload('copied', 6, { metadata: { from: 'here' } });
    const target = container.getBlockBlobClient('target');
    const done = await (await target.beginCopyFromURL(source.url)).pollUntilDone();
    assert.equal(done.copyStatus, 'success');
    assert.equal(await textOf((await target.download()).readableStreamBody), 'copied');
    await assert.rejects(target.syncCopyFromURL('https://example.com/x'), { statusCode: 400 });
    const log = container.getAppendBlobClient('log');
    await log.create();
    await log.appendBlock('one,', 4);
    await log.appendBlock('two', 3);
    assert.equal(await textOf((await log.download()).readableStreamBody), 'one,two');
    await assert.rejects(source.createSnapshot(), { statusCode: 409 });
    await source.delete();
    await assert.rejects(source.delete(), { code: 'BlobNotFound' });
    const batch = service.getBlobBatchClient();
    const answer = await batch.deleteBlobs([target, log, source]);
    assert.equal(answer.subResponsesSucceededCount, 2);
    assert.equal(answer.subResponsesFailedCount, 1);
    assert.equal(await target.exists(), false);
  });
});

test('contents survive a restart, and files that no blob names do not', async (t) => {
  const first = await startAccount(t, { keep: true });
  const bytes = randomBytes(300 * 1024);
  const container = first.service.getContainerClient('kept');
  await container.create();
  await container.getBlockBlobClient('big').uploadData(bytes);
  await container.getBlockBlobClient('small').uploadData(Buffer.from('small'));
  const directory = join(first.azure.dataDirectory, 'contents', 'storage');
  assert.equal((await readdir(directory)).length, 1);
  await container.getBlockBlobClient('big').uploadData(bytes);
  assert.equal((await readdir(directory)).length, 1, 'what was replaced is gone');
  await writeFile(join(directory, 'left-behind'), 'x');
  const second = await attachAccount(await first.restart(), first.accountId);
  assert.equal((await readdir(directory)).length, 1);
  const again = second.service.getContainerClient('kept');
  assert.ok((await again.getBlockBlobClient('big').downloadToBuffer()).equals(bytes));
  assert.equal((await again.getBlockBlobClient('small').downloadToBuffer()).toString(), 'small');
  await again.delete();
  assert.equal((await readdir(directory)).length, 0);
});
