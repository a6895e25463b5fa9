/** Both compose installations with the real NATS and PostgreSQL, each service with its own secrets: see play-compose.ts. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { track } from '../../server/testing/samples.ts';
import { openReceiver } from '../../server/testing/receiver.ts';
import { addScene } from '../../server/testing/stack.ts';
import { until } from '../../server/testing/until.ts';
import { type Played, playCompose } from './play-compose.ts';
import { startProxy } from './start-proxy.ts';

for (const args of [[], ['--ha']]) {
  suite(`the compose installation after setup ${args.join(' ')}`, () => {
    let played: Played;
    before(async () => void (played = await playCompose(...args)));
    after(() => played[Symbol.asyncDispose]());

    test('accepts calls in every collect process and delivers them', async () => {
      await using receiver = await openReceiver();
      const scene = await addScene(played.http, receiver.url);
      const collectors = Object.keys(played.services).filter((name) => /collect|millrace/.test(name));
      for (const name of collectors) {
        const { send } = played.httpOf(name, 'unused');
        await until(async () => (await send(scene.writeKey, [])) === 400);
        assert.equal(await send(scene.writeKey, [track(`Through ${name}`)]), 200);
      }
      await until(
        () => collectors.every((name) => receiver.received.some(({ body }) => body.includes(`Through ${name}`))),
        60_000,
      );
    });

    test('serves the database with a login that cannot lift its own restrictions', () => {
      assert.deepEqual(
        played.lines.filter(({ msg }) => ['database.login_too_strong', 'database.refused'].includes(msg)),
        [],
      );
    });

    test('stores as many copies as there are servers', async () => {
      const { nats } = await played.http.get<{ nats: { streams: { replicas: number }[] } }>('GET', '/system');
      const copies = new Set(nats.streams.map(({ replicas }) => replicas));
      assert.deepEqual([...copies], [args.includes('--ha') ? 3 : 1]);
    });

    test('is reached through the proxy over TLS, and a process that stops costs no request', async () => {
      await using proxy = await startProxy(played);
      await using receiver = await openReceiver();
      const { writeKey } = await addScene(played.http, receiver.url);
      await until(async () => (await proxy.send(writeKey, track('Encrypted'))) === 200, 60_000);
      assert.match(await proxy.page('/'), /<title>|console is not built/i);
      if (!args.includes('--ha')) return;
      const stop = new AbortController();
      const stopping = played.services['collect-1']?.[Symbol.asyncDispose]().then(() => stop.abort());
      const statuses: number[] = [];
      while (!stop.signal.aborted || statuses.length < 50) {
        statuses.push(await proxy.send(writeKey, track('Meanwhile')));
      }
      await stopping;
      assert.deepEqual([...new Set(statuses)], [200]);
    });

    test('is denied nothing that it needs', () => {
      // Before control has made the streams, the other roles try to and are refused: that is the order of a first start.
      const isStarted = new Set<string>();
      const denied = played.lines.filter(({ msg, service }) => {
        if (msg === 'server.started') isStarted.add(service);
        return msg === 'nats.denied' && isStarted.has(service);
      });
      assert.deepEqual(denied, []);
    });
  });
}
