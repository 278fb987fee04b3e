// Other TLS stacks talk to our listener: curl's, and Go's by way of kubectl.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { fastify } from 'fastify';
import type { ClientRules } from '../../../src/kit/listener.ts';
import { listen } from '../../../src/kit/listener.ts';
import { createLogger } from '../../../src/kit/log.ts';
import { type TestCertificates, testCertificates } from '../../../src/kit/testing/certificates.ts';
import { needs } from '../../peers.ts';

const run = promisify(execFile);

const versions = [
  ['TLS 1.2', ['--tlsv1.2', '--tls-max', '1.2'], 'TLSv1.2'],
  ['TLS 1.3', ['--tlsv1.3'], 'TLSv1.3'],
] as const;
const protocols = [
  ['HTTP/1.1', ['--http1.1'], '1.1'],
  ['HTTP/2', ['--http2'], '2'],
] as const;

for (const [version, versionArguments, tls] of versions) {
  for (const [protocol, protocolArguments, http] of protocols) {
    test(`curl speaks ${protocol} over ${version}, with and without a client certificate`, async (t) => {
      const path = needs(t, 'curl');
      if (!path) return;
      const { url, certificates } = await setup(t, { http2: true, unauthenticated: 'anonymous' });
      const curl = async (...more: string[]): Promise<string[]> => {
        const form = [
          '--silent',
          '--show-error',
          '--cacert',
          certificates.caFile,
          '--write-out',
          '\n%{http_version} %{http_code}',
        ];
        const { stdout } = await run(path, [...form, ...versionArguments, ...protocolArguments, ...more, `${url}/who`]);
        return stdout.split('\n');
      };
      const anonymous = await curl();
      assert.deepEqual(JSON.parse(anonymous[0] ?? ''), { tls, kind: 'anonymous' });
      assert.equal(anonymous[1], `${http} 200`);

      const client = await certificates.clientFiles({ commonName: 'curl', uris: ['spiffe://aro.local/curl'] });
      const known = await curl('--cert', client.certificate, '--key', client.key, '--data', `@${certificates.caFile}`);
      assert.equal(known[1], `${http} 200`);
      assert.deepEqual(JSON.parse(known[0] ?? ''), {
        tls,
        kind: 'certificate',
        identity: 'spiffe://aro.local/curl',
      });
    });
  }
}

test('curl is refused without a certificate, with one that is not listed, and below TLS 1.2', async (t) => {
  const path = needs(t, 'curl');
  if (!path) return;
  const { url, certificates } = await setup(t, {
    http2: false,
    unauthenticated: 'handshake',
    allow: [{ of: 'commonName', exact: 'rp' }],
  });
  const curl = (...more: string[]) =>
    run(path, ['--silent', '--cacert', certificates.caFile, '--write-out', '%{http_code}', ...more, `${url}/who`]);
  await assert.rejects(curl());
  const other = await certificates.clientFiles({ commonName: 'other' });
  assert.match((await curl('--cert', other.certificate, '--key', other.key)).stdout, /ClientNotAllowed.*403$/);
  const rp = await certificates.clientFiles({ commonName: 'rp' });
  assert.match((await curl('--cert', rp.certificate, '--key', rp.key)).stdout, /200$/);
  await assert.rejects(
    curl('--cert', rp.certificate, '--key', rp.key, '--tls-max', '1.1', '--ciphers', 'DEFAULT@SECLEVEL=0'),
  );
});

for (const http2 of [false, true]) {
  test(`kubectl gets through with a client certificate of ours (HTTP/${http2 ? '2' : '1.1'})`, async (t) => {
    const path = needs(t, 'kubectl');
    if (!path) return;
    const { url, certificates } = await setup(t, {
      http2,
      unauthenticated: 'handshake',
      allow: [{ of: 'commonName', exact: 'system:admin' }],
    });
    const kubectl = async (commonName: string): Promise<string> => {
      const client = await certificates.clientFiles({ commonName, organizations: ['system:masters'] });
      const config = join(certificates.directory, 'kubeconfig');
      await writeFile(config, kubeconfig(url, certificates.caFile, client));
      const { stdout } = await run(path, ['--kubeconfig', config, 'get', '--raw', '/healthz'], {
        env: { ...process.env, HOME: certificates.directory },
      });
      return stdout;
    };
    assert.equal(await kubectl('system:admin'), `ok HTTP/${http2 ? '2.0' : '1.1'}`);
    await assert.rejects(kubectl('system:other'), /not on the list of clients|Forbidden|forbidden/);
  });
}

function kubeconfig(
  server: string,
  ca: string,
  client: { readonly certificate: string; readonly key: string },
): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'ours',
    contexts: [{ name: 'ours', context: { cluster: 'ours', user: 'ours' } }],
    clusters: [{ name: 'ours', cluster: { server, 'certificate-authority': ca } }],
    users: [{ name: 'ours', user: { 'client-certificate': client.certificate, 'client-key': client.key } }],
  });
}

interface SetupOptions extends Pick<ClientRules, 'unauthenticated' | 'allow'> {
  readonly http2: boolean;
}

async function setup(
  t: TestContext,
  { http2, ...rules }: SetupOptions,
): Promise<{ readonly url: string; readonly certificates: TestCertificates }> {
  const certificates = await testCertificates(t);
  const app = fastify();
  app.addContentTypeParser('*', { parseAs: 'string' }, async () => undefined);
  app.route({
    method: ['GET', 'POST'],
    url: '/who',
    handler: async ({ caller, raw }) => ({
      tls: 'getProtocol' in raw.socket && typeof raw.socket.getProtocol === 'function' ? raw.socket.getProtocol() : '',
      kind: caller.kind,
      ...(caller.kind === 'certificate' ? { identity: caller.identity } : {}),
    }),
  });
  app.get('/healthz', async (request) => `ok HTTP/${request.raw.httpVersion}`);
  const listener = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    ...certificates.server,
    http2,
    clients: { authorities: certificates.caFile, ...rules },
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  t.after(() => listener.stop(AbortSignal.abort()));
  return { url: listener.url, certificates };
}
