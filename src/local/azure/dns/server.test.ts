import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type DecodedPacket, decode, encode, type Packet } from 'dns-packet';
import fc from 'fast-check';
import { createLogger } from '../../../kit/log.ts';
import type { DnsAnswer, RecordType } from '../kernel/network.ts';
import { answerPacket, type Zones } from './answer.ts';
import { startDnsServer } from './server.ts';

const record = (name: string, type: RecordType, data: string, ttlSeconds = 300): DnsAnswer => ({
  name,
  type,
  ttlSeconds,
  data,
});

const records: readonly DnsAnswer[] = [
  record('azure.test', 'SOA', 'ns1.azure.test. host.azure.test. 7 3600 300 2419200 30', 3600),
  record('azure.test', 'NS', 'ns1.azure.test.'),
  record('api.azure.test', 'A', '20.1.2.3'),
  record('api.azure.test', 'A', '20.1.2.4'),
  record('six.azure.test', 'AAAA', 'fd00::1'),
  record('mail.azure.test', 'MX', '10 mx.azure.test.'),
  record('text.azure.test', 'TXT', '"one \\"two\\"" "three"'),
  record('_etcd._tcp.azure.test', 'SRV', '0 10 2380 etcd-0.azure.test.'),
  record('caa.azure.test', 'CAA', '0 issue "ca.test"'),
  record('broken.azure.test', 'A', 'not an address'),
  ...Array.from({ length: 100 }, (_, at) => record('many.azure.test', 'A', `20.0.0.${at}`)),
];

const zones: Zones = {
  suffix: 'azure.test',
  async resolve(name, type) {
    const lower = name.toLowerCase();
    if (lower === 'failing.azure.test') throw new Error('the store is gone');
    if (lower !== 'azure.test' && !lower.endsWith('.azure.test')) return undefined;
    return records.filter((one) => one.name === lower && one.type === type);
  },
};

async function startServer(t: TestContext) {
  const logger = createLogger({ service: 'dns', level: 'fatal' });
  const server = await startDnsServer({ host: '127.0.0.1', port: 0, zones, logger });
  t.after(() => server.stop());
  const resolver = new Resolver({ timeout: 2000, tries: 1 });
  resolver.setServers([server.address]);
  return { server, resolver };
}

const query = (packet: Partial<Packet> & { readonly name?: string; readonly rrtype?: string }): Buffer =>
  encode({
    type: 'query',
    id: 9,
    questions: [{ name: packet.name ?? 'api.azure.test', type: (packet.rrtype ?? 'A') as RecordType, class: 'IN' }],
    ...packet,
  });

async function ask(message: Buffer, transport: 'udp' | 'tcp' = 'udp'): Promise<DecodedPacket & { rcode: string }> {
  const answer = await answerPacket(message, zones, transport);
  assert.ok(answer);
  return decode(answer) as DecodedPacket & { rcode: string };
}

test('a resolver of the system finds records of every type, with authority', async (t) => {
  const { resolver } = await startServer(t);
  assert.deepEqual(await resolver.resolve4('API.azure.test'), ['20.1.2.3', '20.1.2.4']);
  assert.deepEqual(await resolver.resolve6('six.azure.test'), ['fd00::1']);
  assert.equal((await resolver.resolveMx('mail.azure.test'))[0]?.exchange, 'mx.azure.test');
  assert.deepEqual(await resolver.resolveTxt('text.azure.test'), [['one "two"', 'three']]);
  assert.deepEqual(await resolver.resolveNs('azure.test'), ['ns1.azure.test']);
  assert.equal((await resolver.resolveSoa('azure.test')).serial, 7);
  assert.equal((await resolver.resolveSrv('_etcd._tcp.azure.test'))[0]?.port, 2380);
  assert.equal((await resolver.resolveCaa('caa.azure.test'))[0]?.issue, 'ca.test');
});

test('answers too long for UDP are cut there and come whole by TCP', async (t) => {
  const { resolver } = await startServer(t);
  const cut = await ask(query({ name: 'many.azure.test' }));
  assert.equal(cut.flag_tc, true);
  assert.deepEqual(cut.answers, []);
  assert.equal((await resolver.resolve4('many.azure.test')).length, 100);
});

test('there being nothing is said with the SOA of the zone: no such name, or none of the type', async (t) => {
  const { resolver } = await startServer(t);
  await assert.rejects(resolver.resolve4('nobody.azure.test'), { code: 'ENOTFOUND' });
  await assert.rejects(resolver.resolve6('api.azure.test'), { code: 'ENODATA' });
  const missing = await ask(query({ name: 'nobody.azure.test' }));
  assert.equal(missing.rcode, 'NXDOMAIN');
  assert.equal(missing.flag_aa, true);
  const [soa] = missing.authorities ?? [];
  assert.equal(soa?.name, 'azure.test');
  assert.equal((soa as { readonly ttl?: number }).ttl, 30);
  const none = await ask(query({ name: 'api.azure.test', rrtype: 'HINFO' }));
  assert.equal(none.rcode, 'NOERROR');
  assert.equal(none.authorities?.length, 1);
});

test('names of others, other classes and transfers of zones are refused', async () => {
  for (const message of [
    query({ name: 'example.com' }),
    query({ questions: [{ name: 'api.azure.test', type: 'A', class: 'CH' }] }),
    query({ rrtype: 'AXFR', name: 'azure.test' }),
  ]) {
    const answer = await ask(message);
    assert.equal(answer.rcode, 'REFUSED');
    assert.equal(answer.flag_aa, false);
  }
});

test('what cannot be answered is told so, and answers are never answered', async () => {
  assert.equal((await ask(query({ name: 'failing.azure.test' }))).rcode, 'SERVFAIL');
  assert.equal((await ask(query({ questions: [] }))).rcode, 'FORMERR');
  const update = query({});
  update[2] = 5 << 3;
  assert.equal((await ask(update)).rcode, 'NOTIMP');
  assert.equal((await ask(query({}).subarray(0, 15))).rcode, 'FORMERR');
  assert.equal(await answerPacket(encode({ type: 'response', id: 1 }), zones, 'udp'), undefined);
  assert.equal(await answerPacket(Buffer.alloc(3), zones, 'udp'), undefined);
  // A name that points to itself.
  const loop = Buffer.concat([query({}).subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]);
  assert.equal((await ask(loop)).rcode, 'FORMERR');
  assert.deepEqual((await ask(query({ name: 'broken.azure.test' }))).answers, []);
});

test('those who ask with EDNS are answered with it, and as long as they say', async () => {
  const opt = { type: 'OPT', name: '.', udpPayloadSize: 1232, flags: 0, options: [] };
  const answer = await ask(query({ name: 'api.azure.test', additionals: [opt] as unknown as Packet['additionals'] }));
  assert.equal(answer.additionals?.[0]?.type, 'OPT');
  assert.equal(answer.answers?.length, 2);
});

test('no packet makes it fail', async () => {
  const valid = query({ name: 'api.azure.test' });
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 0, maxLength: 80 }),
      fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { maxLength: 6 }),
      async (noise, changes) => {
        await answerPacket(Buffer.from(noise), zones, 'udp');
        const changed = Buffer.from(valid);
        for (const [at, byte] of changes) changed[at] = byte;
        const answer = await answerPacket(changed, zones, 'tcp');
        if (answer) assert.equal(answer.readUInt16BE(0), changed.readUInt16BE(0));
      },
    ),
    { numRuns: 500 },
  );
});

test('several questions on one connection are answered in turn, in whatever pieces they come', async (t) => {
  const { server } = await startServer(t);
  const socket = connect({ host: '127.0.0.1', port: server.port });
  await once(socket, 'connect');
  const framed = (message: Buffer): Buffer => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(message.length);
    return Buffer.concat([length, message]);
  };
  const sent = Buffer.concat([
    framed(query({ id: 1 })),
    framed(query({ id: 2, name: 'six.azure.test', rrtype: 'AAAA' })),
  ]);
  socket.setNoDelay(true);
  for (const byte of sent) socket.write(Buffer.from([byte]));
  socket.end();
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part);
  const received = Buffer.concat(parts);
  const ids: number[] = [];
  for (let at = 0; at < received.length; at += 2 + received.readUInt16BE(at)) ids.push(received.readUInt16BE(at + 2));
  assert.deepEqual(ids, [1, 2]);
});

test('noise by UDP is survived, and stopping ends both', async (t) => {
  const { server, resolver } = await startServer(t);
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  for (const noise of ['', 'x', 'y'.repeat(600)]) {
    await new Promise((resolve) => {
      socket.send(noise, server.port, '127.0.0.1', resolve);
    });
  }
  assert.equal((await resolver.resolve4('api.azure.test')).length, 2);
  const idle = connect({ host: '127.0.0.1', port: server.port });
  idle.on('error', () => undefined);
  await once(idle, 'connect');
  await server.stop();
  if (!idle.closed) await once(idle, 'close');
});
