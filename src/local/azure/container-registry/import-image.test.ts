// importImage with images that name the same things over and over.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { basic, digest, registryVersion, startRegistry } from './testing/registry.ts';

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const indexType = 'application/vnd.oci.image.index.v1+json';

test('an import copies each manifest once, and only so many of them', async (t) => {
  const cloud = await startRegistry(t);
  await cloud.create('fromhere', { adminUserEnabled: true });
  await cloud.create('tothere', { adminUserEnabled: true });
  const adminOf = async (name: string): Promise<string> => {
    const path = `${cloud.registryId(name)}/listCredentials?api-version=${registryVersion}`;
    const { json } = await cloud.call(path, { method: 'POST' });
    const [first] = (json?.passwords ?? []) as readonly { readonly value: string }[];
    return basic(name, first?.value ?? '');
  };
  const authorization = await adminOf('fromhere');
  const push = async (reference: string, type: string, body: string) =>
    cloud.ask('fromhere', `/v2/app/manifests/${reference}`, {
      method: 'PUT',
      headers: { authorization, 'content-type': type },
      body,
    });
  const index = (digests: readonly string[], mark: string): string =>
    JSON.stringify({
      schemaVersion: 2,
      mediaType: indexType,
      manifests: digests.map((one) => ({ mediaType: manifestType, digest: one, size: 1 })),
      annotations: { mark },
    });
  const pushIndex = async (digests: readonly string[], mark: string): Promise<string> => {
    const body = index(digests, mark);
    const pushed = await push(mark, indexType, body);
    assert.equal(pushed.status, 201, pushed.bytes.toString());
    return digest(body);
  };
  const importing = async (
    image: string,
    from = 'fromhere',
  ): Promise<{ readonly status: string; readonly message: string }> => {
    const started = await cloud.call(`${cloud.registryId('tothere')}/importImage?api-version=${registryVersion}`, {
      method: 'POST',
      body: {
        source: { resourceId: cloud.registryId(from), sourceImage: `app:${image}` },
        targetTags: [`app:${image}`],
      },
    });
    assert.equal(started.status, 202, started.text);
    const place = new URL(String(started.headers['azure-asyncoperation']));
    for (;;) {
      const { json } = await cloud.call(`${place.pathname}${place.search}`);
      if (json?.status !== 'InProgress')
        return {
          status: String(json?.status),
          message: String((json?.error as { readonly message?: string } | undefined)?.message ?? ''),
        };
    }
  };

  const leaves: string[] = [];
  const image = JSON.stringify({ schemaVersion: 2, mediaType: manifestType, layers: [] });
  assert.equal((await push('leaf', manifestType, image)).status, 201);
  leaves.push(digest(image));
  const width = 50;
  const above = async (level: readonly string[], name: string): Promise<string[]> => {
    const made: string[] = [];
    for (let at = 0; at < width; at++) made.push(await pushIndex(level, `${name}-${at}`));
    return made;
  };

  await t.test('where each of many indexes names all the others below', async () => {
    const one = await above(leaves, 'one');
    const two = await above(one, 'two');
    await pushIndex([...two, ...two], 'wide');
    assert.deepEqual(await importing('wide'), { status: 'Succeeded', message: '' });
    const got = await cloud.ask('tothere', '/v2/app/manifests/wide', {
      headers: { authorization: await adminOf('tothere') },
    });
    assert.equal(got.bytes.toString(), index([...two, ...two], 'wide'));
    const below = await cloud.ask('tothere', `/v2/app/manifests/${one[width - 1]}`, {
      headers: { authorization: await adminOf('tothere') },
    });
    assert.equal(below.status, 200);
  });

  await t.test('an image in more levels than there may be is refused', async () => {
    let top = leaves[0] ?? '';
    for (let level = 0; level < 5; level++) top = await pushIndex([top], `deep-${level}`);
    const { status, message } = await importing('deep-4');
    assert.equal(status, 'Failed');
    assert.match(message, /levels/);
  });

  await t.test('a manifest that names too much is refused rather than kept in part', async () => {
    const many = Array.from({ length: 1001 }, (_, at) => digest(String(at)));
    const refused = await push('many', indexType, index(many, 'many'));
    assert.equal(refused.status, 400);
    assert.match(refused.bytes.toString(), /MANIFEST_INVALID/);
  });

  await t.test('a registry that is not there is not told from one that is closed', async () => {
    const { status, message } = await importing('wide', 'nowhere');
    assert.equal(status, 'Failed');
    assert.match(message, /does not let its images be pulled/);
  });
});
