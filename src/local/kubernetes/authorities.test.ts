import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createAuthorities } from './authorities.ts';
import type { Objects } from './objects/objects.ts';
import { openHost } from './objects/testing/hosts.ts';

interface Owner {
  readonly name: string;
  readonly hostName: string;
  readonly otherNames: readonly string[];
  readonly objects: Objects;
  now(): number;
}

async function owner(t: TestContext, now = () => Date.now()): Promise<Owner> {
  const host = await openHost(t);
  return { name: 'one', hostName: 'one.test', otherNames: [], objects: host.open('one'), now };
}

describe('the authority of a cluster', () => {
  it('is made once, also for those who ask together, and read by the next process', async (t) => {
    const cluster = await owner(t);
    const authorities = createAuthorities();
    const [first, again] = await Promise.all([authorities.of(cluster), authorities.of(cluster)]);
    assert.equal(first.certificatePem, again.certificatePem);
    assert.equal((await createAuthorities().of(cluster)).certificatePem, first.certificatePem);
  });

  it('has its TLS context at hand until the certificate ends soon', async (t) => {
    let time = Date.now();
    const cluster = await owner(t, () => time);
    const authorities = createAuthorities();
    const made = await authorities.tls(cluster, '127.0.0.1');
    assert.equal(authorities.tls(cluster, '127.0.0.1'), made);
    time += 364.5 * 24 * 3600 * 1000;
    const next = authorities.tls(cluster, '127.0.0.1');
    assert.ok(next instanceof Promise);
    assert.notEqual(await next, made);
  });

  it('is not held for a removed cluster, not by what was under way either', async (t) => {
    const cluster = await owner(t);
    const authorities = createAuthorities();
    const underWay = authorities.tls(cluster, '127.0.0.1');
    authorities.forget(cluster);
    await underWay;
    assert.ok(authorities.tls(cluster, '127.0.0.1') instanceof Promise, 'nothing is at hand');
    const [first, again] = [authorities.of(cluster), authorities.of(cluster)];
    assert.notEqual(first, again);
    await Promise.all([first, again]);
  });
});
