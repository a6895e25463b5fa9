import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { play } from '../../../testing/dispatcher.ts';
import type { Webhook } from '../attempt/webhook.ts';

const HOST = 'https://victim.example/hook';

/** The destination of this workspace, with a target at the host. */
function at(index: number, url = HOST): Partial<Webhook> {
  return {
    destinationId: `dst_${index}`,
    workspaceId: `ws_${index}`,
    targets: [{ url: `${url}/${index}`, headers: [] }],
  };
}

suite('the cap of one host', () => {
  test('holds over all workspaces: 100 destinations of 100 workspaces never have more POSTs under way', async (t) => {
    const stage = play(t, { maxInFlight: 1_000, hostCap: { attempts: 10, perSecond: undefined } });
    for (let index = 0; index < 100; index += 1) stage.offerBacklog(`d${index}`, at(index));
    assert.equal(stage.running.length, 10);
    for (let ended = 0; ended < 100; ended += 1) {
      assert.ok(stage.running.length <= 10);
      await stage.running[0]?.end();
    }
    assert.equal(stage.started.length, 100);
    assert.deepEqual(stage.back, [], 'no delivery was handed back for waiting');
  });

  test('gives each of 100 workspaces the same share, also when one of them has fifty destinations', async (t) => {
    const stage = play(t, { maxInFlight: 1_000, hostCap: { attempts: 5, perSecond: undefined } });
    const webhooks = [
      ...Array.from({ length: 99 }, (_, index) => at(index)),
      ...Array.from({ length: 50 }, (_, index) => ({ ...at(1_000 + index), workspaceId: 'ws_many' })),
    ];
    const workspaceOf = new Map(
      webhooks.map(({ destinationId = '', workspaceId = '' }) => [destinationId, workspaceId]),
    );
    for (const webhook of webhooks) {
      for (let more = 0; more < 20; more += 1) stage.offerBacklog(`${webhook.destinationId} ${more}`, webhook);
    }
    for (let ended = 0; ended < 1_500; ended += 1) await stage.running[0]?.end();
    const shares = Map.groupBy(stage.started, ({ destinationId }) => workspaceOf.get(destinationId));
    const counts = [...shares.values()].map(({ length }) => length);
    assert.equal(counts.length, 100);
    assert.ok(Math.max(...counts) / Math.min(...counts) < 1.5, `${Math.max(...counts)} and ${Math.min(...counts)}`);
  });

  test('limits how many POSTs begin in a second, and the rest waits without a failure', async (t) => {
    const stage = play(t, { maxInFlight: 1_000, hostCap: { attempts: undefined, perSecond: 50 } });
    for (let index = 0; index < 200; index += 1) stage.offerBacklog(`d${index}`, at(index));
    const endAll = () => Promise.all(stage.running.slice().map((one) => one.end()));
    await endAll();
    const before = stage.started.length;
    for (let step = 0; step < 20; step += 1) {
      await stage.pass(50);
      await endAll();
    }
    const began = stage.started.length - before;
    assert.ok(began >= 40 && began <= 50, `${began} in a second`);
    assert.deepEqual(stage.back, []);
    assert.equal(stage.dispatcher.gateOf('dst_199').failures, 0);
  });

  test('is divided by the processes', (t) => {
    const stage = play(t, { maxInFlight: 1_000, peers: 4, hostCap: { attempts: 20, perSecond: undefined } });
    for (let index = 0; index < 100; index += 1) stage.offerBacklog(`d${index}`, at(index));
    assert.equal(stage.running.length, 5);
  });

  test('delays no other host', (t) => {
    const stage = play(t, { maxInFlight: 1_000, hostCap: { attempts: 2, perSecond: 2 } });
    for (let index = 0; index < 50; index += 1) stage.offerBacklog(`d${index}`, at(index));
    const before = stage.running.length;
    stage.offer('other', at(100, 'https://other.example/hook'));
    stage.offer('port', at(101, 'https://victim.example:8443/hook'));
    assert.equal(stage.running.length, before + 2);
    assert.equal(stage.dispatcher.hostsAtCap(), 1);
  });

  test('counts names as they are written, whatever their case and last dot', (t) => {
    const stage = play(t, { hostCap: { attempts: 1, perSecond: undefined } });
    stage.offer('one', at(1, 'https://Victim.Example/hook'));
    stage.offer('two', at(2, 'https://victim.example./hook'));
    stage.offer('three', at(3, 'https://victim.example:443/hook'));
    assert.equal(stage.running.length, 1);
  });

  test('counts each POST of a destination with several targets at the host', (t) => {
    const stage = play(t, { hostCap: { attempts: 3, perSecond: undefined } });
    const targets = ['a', 'b'].map((path) => ({ url: `${HOST}/${path}`, headers: [] }));
    stage.offerBacklog('one', { ...at(1), targets });
    stage.offerBacklog('two', { ...at(2), targets });
    assert.equal(stage.running.length, 1);
  });

  test('lets a destination with more targets at the host than the cap send when nothing else is under way', async (t) => {
    const stage = play(t, { hostCap: { attempts: 1, perSecond: undefined } });
    const targets = ['a', 'b'].map((path) => ({ url: `${HOST}/${path}`, headers: [] }));
    stage.offerBacklog('one', { ...at(1), targets });
    stage.offerBacklog('two', { ...at(2), targets });
    assert.equal(stage.running.length, 1);
    await stage.running[0]?.end();
    assert.equal(stage.running[0]?.id, 'two');
  });

  test('sends a third delivery of a destination to its lane at once, so that the memory of the process stays free', (t) => {
    const stage = play(t, { hostCap: { attempts: 1, perSecond: undefined } });
    for (const id of ['a', 'b', 'c', 'd']) stage.offer(id, at(1));
    assert.equal(stage.running.length, 1);
    assert.deepEqual(stage.back, ['d']);
  });

  test('hands deliveries of a lane back after five seconds, and keeps the turn of their workspace', async (t) => {
    const stage = play(t, { hostCap: { attempts: 1, perSecond: undefined } });
    stage.offerBacklog('slow', at(1));
    stage.offerBacklog('waits', at(2));
    await stage.pass(5_200);
    assert.deepEqual(stage.back, ['waits']);
    assert.equal(stage.dispatcher.waitsForHost('dst_2'), false);
    stage.offerBacklog('more', at(1));
    stage.offerBacklog('again', at(2));
    await stage.running[0]?.end();
    assert.equal(stage.running[0]?.id, 'again', 'its workspace had no turn yet');
  });

  test('gives a probe its turn, before those that were served', async (t) => {
    const stage = play(t, { hostCap: { attempts: 1, perSecond: undefined } });
    stage.offerBacklog('one', at(1));
    stage.offerBacklog('two', at(1));
    stage.probe('probe', at(2));
    assert.equal(stage.running.length, 1);
    await stage.running[0]?.end();
    assert.equal(stage.running[0]?.id, 'probe');
    await stage.running[0]?.end();
    assert.equal(stage.running[0]?.id, 'two');
  });

  test('hands a waiting probe back when the process stops', (t) => {
    const stage = play(t, { hostCap: { attempts: 1, perSecond: undefined } });
    stage.offerBacklog('one', at(1));
    stage.probe('probe', at(2));
    stage.dispatcher.stop();
    assert.deepEqual(stage.back, ['probe']);
  });

  test('tells how long a lane waits for its turn, and nothing where no line waits', async (t) => {
    const stage = play(t, { maxInFlight: 1_000, hostCap: { attempts: undefined, perSecond: 10 } });
    const webhook = at(1) as Webhook;
    assert.equal(stage.dispatcher.turnInMs(webhook), 0);
    for (let index = 0; index < 100; index += 1) stage.offerBacklog(`d${index}`, at(index));
    await stage.pass(1_500);
    const turnInMs = stage.dispatcher.turnInMs(webhook);
    assert.ok(turnInMs > 1_000 && turnInMs <= 10_000, `${turnInMs}`);
  });

  test('gives turns at each host of a destination with targets at several: a full host of its own opens no other', async (t) => {
    const stage = play(t, { hostCap: { attempts: 2, perSecond: undefined } });
    const targets = [
      { url: 'https://attacker.example/', headers: [] },
      { url: HOST, headers: [] },
    ];
    for (const index of [1, 2]) {
      const greedy = { ...at(index), workspaceId: 'ws_greedy', targets };
      for (let more = 0; more < 20; more += 1) stage.offerBacklog(`greedy ${index} ${more}`, greedy);
    }
    for (let more = 0; more < 20; more += 1) stage.offerBacklog(`fair ${more}`, at(3));
    for (let ended = 0; ended < 20; ended += 1) await stage.running[0]?.end();
    const fair = stage.started.filter(({ destinationId }) => destinationId === 'dst_3').length;
    assert.ok(fair >= 8 && fair <= 13, `${fair} of ${stage.started.length}`);
  });

  test('gives a destination with targets at two full hosts its turn, and keeps nothing for it when it leaves', async (t) => {
    const stage = play(t, { hostCap: { attempts: 1, perSecond: undefined } });
    const other = 'https://other.example/hook';
    const targets = [HOST, other].map((url) => ({ url, headers: [] }));
    for (let more = 0; more < 20; more += 1) {
      stage.offerBacklog(`one ${more}`, at(1));
      stage.offerBacklog(`two ${more}`, at(2, other));
    }
    stage.offerBacklog('both', { ...at(3), targets });
    const ids = () => stage.started.map(({ id }) => id);
    for (let ended = 0; ended < 6; ended += 1) await stage.running[ended % stage.running.length]?.end();
    assert.ok(ids().includes('both'), ids().join());

    stage.offerBacklog('leaves', { ...at(4), targets });
    await stage.running.find(({ id }) => id === 'both')?.end();
    await stage.pass(5_200);
    assert.ok(stage.back.includes('leaves'));
    const before = stage.started.length;
    stage.offerBacklog('free', at(5));
    stage.offerBacklog('free too', at(6, other));
    while (stage.running[0] !== undefined) await stage.running[0].end();
    assert.deepEqual(ids().slice(before).toSorted(), ['free', 'free too']);
  });
});
