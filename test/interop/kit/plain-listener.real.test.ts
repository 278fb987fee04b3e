// A web page in a real browser tries to use the plain listener of the machine it is shown on.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { fastify } from 'fastify';
import { type Browser, chromium, type Page, type Request } from 'playwright-core';
import { listenPlain } from '../../../src/kit/plain-listener.ts';
import { needs } from '../../peers.ts';

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Names that an attacker controls and points at this machine.
  '--host-resolver-rules=MAP evil.test 127.0.0.1, MAP rebound.test 127.0.0.1',
];

/** What a page can try, each run in the page with the address of its target. */
const attempts: Readonly<Record<string, (url: string) => Promise<string>>> = {
  'a readable GET': async (url) => (await fetch(url)).text(),
  'an opaque GET': async (url) => (await fetch(url, { mode: 'no-cors' })).text(),
  'an opaque POST': async (url) => (await fetch(url, { mode: 'no-cors', method: 'POST', body: 'x' })).text(),
  'a POST of JSON': async (url) =>
    (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).text(),
  'a PUT': async (url) => (await fetch(url, { method: 'PUT', body: 'x' })).text(),
  'a GET without referrer': async (url) =>
    (await fetch(url, { mode: 'no-cors', referrerPolicy: 'no-referrer' })).text(),
};

for (const [what, attempt] of Object.entries(attempts)) {
  test(`a page of another origin gets nothing by ${what}`, async (t) => {
    const world = await setup(t);
    if (!world) return;
    const { page, plain, reached } = world;
    const got = await page.evaluate(attempt, `${plain}/data`).catch(() => '');
    assert.ok(!got.includes('secret'), got);
    assert.deepEqual(reached(), []);
  });
}

test('the same attempts do reach a server without the rules, so they are real', async (t) => {
  const world = await setup(t);
  if (!world) return;
  const { page, open, openReached } = world;
  for (const attempt of Object.values(attempts)) await page.evaluate(attempt, `${open}/data`).catch(() => '');
  assert.ok(openReached().includes('POST') && openReached().includes('GET'), openReached().join());
});

test('scripts, images, frames and forms of another origin get nothing', async (t) => {
  const world = await setup(t);
  if (!world) return;
  const { page, evil, plain, reached, open, openReached } = world;
  const elements = (url: string): readonly string[] => [
    `<script src="${url}"></script>`,
    `<img src="${url}">`,
    `<iframe src="${url}"></iframe>`,
    `<link rel="stylesheet" href="${url}">`,
    `<form method="post" action="${url}"><input name="a" value="b"></form><script>document.forms[0].submit()</script>`,
    `<meta http-equiv="refresh" content="0;url=${url}">`,
  ];
  const show = async (html: string, url: string): Promise<void> => {
    // A form and a refresh lead the page away.
    await page.goto(evil);
    const over = Promise.withResolvers<void>();
    const look = (request: Request): void => {
      if (request.url() === url) over.resolve();
    };
    page.on('requestfinished', look).on('requestfailed', look);
    await page.setContent(html, { waitUntil: 'commit' });
    await over.promise;
    page.off('requestfinished', look).off('requestfailed', look);
  };
  for (const html of elements(`${plain}/data`)) await show(html, `${plain}/data`);
  assert.deepEqual(reached(), []);
  for (const html of elements(`${open}/data`)) await show(html, `${open}/data`);
  assert.equal(openReached().length, elements('').length, 'each of them reaches a server without the rules');
});

test('a name rebound to this machine gets nothing', async (t) => {
  const world = await setup(t);
  if (!world) return;
  const { page, port, reached } = world;
  const answer = await page.goto(`http://rebound.test:${port}/data`);
  assert.equal(answer?.status(), 421);
  const own = await page.evaluate(async () => (await fetch('/data')).status);
  assert.equal(own, 421);
  assert.deepEqual(reached(), []);
});

test('the person at the machine can open it from the address bar', async (t) => {
  const world = await setup(t);
  if (!world) return;
  const { browser, plain } = world;
  const page = await browser.newPage();
  t.after(() => page.close());
  const answer = await page.goto(`${plain}/data`);
  assert.equal(answer?.status(), 200);
});

/** One browser for all tests; each has a page, and with it a session, of its own. */
let launched: Promise<Browser> | undefined;
after(async () => {
  await (await launched)?.close();
});

interface World {
  readonly browser: Browser;
  /** Shows a page of http://evil.test. */
  readonly page: Page;
  readonly evil: string;
  readonly plain: string;
  readonly port: number;
  /** A server on this machine that has no rules. */
  readonly open: string;
  reached(): readonly string[];
  openReached(): readonly string[];
}

async function setup(t: TestContext): Promise<World | undefined> {
  const executablePath = needs(t, 'chromium');
  if (!executablePath) return undefined;
  const seen: string[] = [];
  const openSeen: string[] = [];
  const app = fastify();
  app.addContentTypeParser('*', async () => undefined);
  app.all('/data', async (request, reply) => {
    seen.push(request.method);
    reply.header('access-control-allow-origin', '*');
    return 'secret';
  });
  const listener = await listenPlain(app, { port: 0 });
  t.after(() => listener.stop(AbortSignal.abort()));
  const evilPort = await server(t, (_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<title>evil</title>');
  });
  const open = await server(t, (request, response) => {
    if (request.url === '/data') openSeen.push(request.method ?? '');
    response.end('secret');
  });
  launched ??= chromium.launch({ executablePath, args: flags });
  const browser = await launched;
  const page = await browser.newPage();
  t.after(() => page.close());
  const evil = `http://evil.test:${evilPort}/`;
  await page.goto(evil);
  return {
    browser,
    page,
    evil,
    plain: listener.url,
    port: listener.port,
    open: `http://127.0.0.1:${open}`,
    reached: () => seen,
    openReached: () => openSeen,
  };
}

async function server(t: TestContext, answer: RequestListener): Promise<number> {
  const made = createServer(answer);
  made.listen(0, '127.0.0.1');
  await once(made, 'listening');
  t.after(() => {
    made.close();
    made.closeAllConnections();
  });
  return (made.address() as AddressInfo).port;
}
