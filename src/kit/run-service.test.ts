import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, describe, it } from 'node:test';

type Event = Record<string, unknown> & { readonly msg?: string };

const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** A process that runs a service whose build function is `body`. */
function service(body: string, graceSeconds = 20) {
  const here = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);
  const program = `
    import { createServer } from 'node:http';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { composeService } from ${here('./lifecycle.ts')};
    import { createLogger } from ${here('./log.ts')};
    import { runService } from ${here('./run-service.ts')};
    // Ends with the test, however that ends.
    process.stdin.on('end', () => process.exit(9)).resume().unref();
    const logger = createLogger({ service: 'test' });
    const options = { name: 'test', logger, graceSeconds: ${graceSeconds} };
    const start = () => composeService(options, async (parts) => { ${body} });
    runService(start, {}, { ...options, onReady: (running) => logger.info({ addresses: running.addresses }, 'ready') });
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const events: Event[] = [];
  const waiting: { text: RegExp; resolve: (event: Event) => void }[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event: Event = JSON.parse(line);
    events.push(event);
    for (const one of waiting.filter((candidate) => candidate.text.test(event.msg ?? ''))) one.resolve(event);
  });
  const ended = ending(child);
  return {
    events,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    ended,
    /** The first event whose message matches; fails when the process ends without it. */
    async said(text: RegExp): Promise<Event> {
      const found = events.find((event) => text.test(event.msg ?? ''));
      if (found) return found;
      const { promise, resolve } = Promise.withResolvers<Event>();
      waiting.push({ text, resolve });
      const event = await Promise.race([promise, ended]);
      if (typeof event === 'object') return event;
      return (
        events.find((one) => text.test(one.msg ?? '')) ?? assert.fail(`ended with ${event} without saying ${text}`)
      );
    },
  };
}

/** The exit code, or the name of the signal that ended the process. */
function ending(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown')));
}

const httpPart = `
  let busy;
  const server = await parts.part('listener', () => new Promise((resolve) => {
    const server = createServer((req, res) => { logger.info('request'); setTimeout(() => res.end('done'), 300); });
    server.listen(0, '127.0.0.1', () => resolve(server));
  }), (server) => new Promise((resolve) => server.close(resolve)));
  parts.address('http', 'http://127.0.0.1:' + server.address().port);
`;

describe('a service process', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`ends with 0 on ${signal}, after the request in flight has been answered`, async () => {
      const run = service(httpPart);
      const { addresses } = await run.said(/^ready$/);
      const url = (addresses as { http: string }).http;
      const answer = fetch(url, { headers: { connection: 'close' } }).then((response) => response.text());
      await run.said(/^request$/);
      run.kill(signal);
      await run.said(/test is stopping/);
      await assert.rejects(fetch(url), 'it accepts nothing new');
      assert.equal(await answer, 'done');
      assert.equal(await run.ended, 0);
      assert.equal(run.events.at(-1)?.msg, 'test has stopped');
    });
  }

  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    it(`ends at once with ${code} on a second signal, ${signal}`, async () => {
      const run = service(`await parts.part('hanging', () => 1, () => new Promise(() => {}));`);
      await run.said(/^ready$/);
      run.kill('SIGTERM');
      await run.said(/test is stopping/);
      run.kill(signal);
      assert.equal(await run.ended, code);
    });
  }

  it('ends with 1 when the grace period passes, and says what still runs', async () => {
    const run = service(`await parts.part('hanging worker', () => 1, () => new Promise(() => {}));`, 0.1);
    await run.said(/^ready$/);
    run.kill('SIGTERM');
    const event = await run.said(/did not stop within 0.1 s/);
    assert.deepEqual(event.stillRunning, ['hanging worker']);
    assert.equal(await run.ended, 1);
  });

  it('ends with 1 when it cannot start, says why, and has stopped what had started', async () => {
    const run = service(`
      await parts.part('store', () => 1, () => logger.info('store closed'));
      await parts.part('listener', () => { throw new Error('port 8443 is in use'); });
    `);
    const event = await run.said(/test cannot start: listener: port 8443 is in use/);
    assert.equal(event.level, 'fatal');
    assert.equal(await run.ended, 1);
    assert.ok(run.events.some((one) => one.msg === 'store closed'));
  });

  it('stops when a signal comes while it is still starting', async () => {
    const run = service(`
      await parts.part('slow', async () => { logger.info('starting slowly'); await sleep(300); }, () => logger.info('slow closed'));
    `);
    await run.said(/starting slowly/);
    run.kill('SIGTERM');
    assert.equal(await run.ended, 0);
    assert.ok(run.events.some((one) => one.msg === 'slow closed'));
    assert.ok(!run.events.some((one) => one.msg === 'ready'));
  });

  for (const [what, code, message] of [
    [
      'an error thrown in a callback',
      `setTimeout(() => { throw new TypeError('oops'); }, 10);`,
      /an error that nobody handled, stopping: oops/,
    ],
    [
      'a rejected promise',
      `setTimeout(() => { Promise.reject(new TypeError('oops')); }, 10);`,
      /a rejected promise that nobody handled, stopping: oops/,
    ],
  ] as const) {
    it(`stops in order and ends with 1 on ${what} that nobody handles`, async () => {
      const run = service(`await parts.part('store', () => 1, () => logger.info('store closed')); ${code}`);
      const event = await run.said(message);
      assert.equal(event.level, 'fatal');
      assert.match(JSON.stringify(event.err), /TypeError/);
      assert.equal(await run.ended, 1);
      assert.ok(run.events.some((one) => one.msg === 'store closed'));
    });
  }

  it('ends with 1 when an error that nobody handles comes while it stops', async () => {
    const run = service(`
      await parts.part('store', () => 1, async () => { setTimeout(() => { throw new TypeError('oops'); }, 1); await sleep(100); });
    `);
    await run.said(/^ready$/);
    run.kill('SIGTERM');
    await run.said(/an error that nobody handled, stopping: oops/);
    assert.equal(await run.ended, 1);
    assert.equal(run.events.at(-1)?.msg, 'test has stopped');
  });

  it('stays while it has nothing open, until it is told to stop', async () => {
    const run = service(``);
    await run.said(/^ready$/);
    assert.equal(
      await Promise.race([run.ended, new Promise((resolve) => setTimeout(resolve, 300, 'still there'))]),
      'still there',
    );
    run.kill('SIGTERM');
    assert.equal(await run.ended, 0);
  });
});
