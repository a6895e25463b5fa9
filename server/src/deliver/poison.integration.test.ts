import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { newDelivery } from '../domain/delivery.ts';
import { FORMATS } from '../domain/format.ts';
import { type Bed, destination, openBed, SOURCE_ID } from '../../testing/deliver-bed.ts';
import { openReceiver } from '../../testing/receiver.ts';
import { until } from '../../testing/until.ts';
import { track } from '../../testing/samples.ts';

const AT = new Date().toISOString();
const ENVELOPE = { shape: 'batch', receivedAt: AT, requestId: 'r1' };

const waiting = (name: string) => {
  const event = { ...track(name), type: 'track', event: name, messageId: `m-${name}`, context: {} } as const;
  return newDelivery(`dlv_${name}`, { ...event, receivedAt: AT, timestamp: AT }, Date.now());
};

const group = (...items: unknown[]) => JSON.stringify(items);

async function openPoisoned() {
  await using opening = new AsyncDisposableStack();
  const bed = opening.use(await openBed());
  const receiver = opening.use(await openReceiver());
  await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
  const open = opening.move();
  return {
    bed,
    got: () => receiver.received.map(({ body }) => (JSON.parse(body) as { event: string }).event),
    lane: (text: string, headers?: Record<string, string>) => bed.publish('lanes.0.dst_1.0', text, headers),
    url: receiver.url,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

const quarantined = async (bed: Bed) =>
  (await bed.quarantine.read('*', 1, 100)).map(({ kind, payload, from }) => ({
    kind,
    text: Buffer.from(payload).toString(),
    subject: from.subject,
  }));

const isIdle = async (bed: Bed) =>
  Object.keys(await bed.laneGroups()).length === 0 && (await bed.tickets()).length === 0;

suite('poison', () => {
  test('in a ticket kills nobody: it goes to quarantine, and its lane is drained', async () => {
    await using scene = await openPoisoned();
    const { bed } = scene;
    await scene.lane(group(waiting('a')));
    await bed.publish('tickets.due.dst_1', 'not json');
    await using _ = await bed.deliver();
    await until(async () => (await isIdle(bed)) && scene.got().length === 1);
    assert.deepEqual(await quarantined(bed), [{ kind: 'ticket', text: 'not json', subject: 'tickets.due.dst_1' }]);
  });

  test('in a scheduled ticket, which would never come due, does not strand its lane', async () => {
    await using scene = await openPoisoned();
    const { bed } = scene;
    await bed.publish('tickets.at.dst_1', '{"held":false,"note":""}');
    await using side = await bed.stream.deliverySide();
    await scene.lane(group(waiting('a')));
    assert.equal(await side.tickets.ensure('dst_1', { dueAt: Date.now(), hurry: false }), 'made');
    await using _ = await bed.deliver();
    await until(async () => (await isIdle(bed)) && scene.got().length === 1);
    assert.deepEqual(
      (await quarantined(bed)).map(({ kind }) => kind),
      ['ticket'],
    );
  });

  test('in a lane goes to quarantine once, and what waits beside it is sent once', async () => {
    await using scene = await openPoisoned();
    const { bed } = scene;
    await scene.lane('{"v":2}');
    await scene.lane(group(waiting('a'), { id: 7 }, waiting('b')));
    await scene.lane(group(waiting('c')));
    await bed.publish('lanes.0.dst_1.1', group(waiting('d')));
    await bed.publish('lanes.0.dst_1.1', 'not json');
    await bed.publish('tickets.due.dst_1', '');
    await using _ = await bed.deliver();
    await until(() => isIdle(bed));
    assert.deepEqual(scene.got().sort(), ['a', 'b', 'c', 'd']);
    const kept = await quarantined(bed);
    assert.deepEqual(kept.map(({ text }) => text).sort(), ['[{"id":7}]', 'not json', '{"v":2}']);
    assert.deepEqual([...new Set(kept.map(({ kind }) => kind))], ['lane']);
  });

  test('in a request is kept before the request is acknowledged', async () => {
    await using scene = await openPoisoned();
    const { bed } = scene;
    await bed.publish(`events.0.${SOURCE_ID}`, 'not json', { 'Millrace-Request': JSON.stringify(ENVELOPE) });
    await bed.publish(`events.0.${SOURCE_ID}`, '{"batch":[]}');
    await using _ = await bed.deliver();
    await bed.append(track('healthy'));
    await until(async () => (await bed.unsettled()) === 0 && scene.got().length === 1);
    assert.deepEqual(
      (await quarantined(bed)).map(({ kind, text }) => [kind, text]),
      [
        ['request', 'not json'],
        ['request', '{"batch":[]}'],
      ],
    );
  });

  test('in one event of a request is kept alone: the others are delivered, and not again when it is put back', async () => {
    await using scene = await openPoisoned();
    const { bed } = scene;
    const batch = [track('one'), { type: 'purchase', messageId: 'odd' }, track('three')];
    await using _ = await bed.deliver();
    await bed.append(...batch);
    await until(async () => (await bed.unsettled()) === 0 && scene.got().length === 2);
    const [kept] = await bed.quarantine.read('request', 1, 10);
    assert.ok(kept !== undefined);
    const headers = Object.fromEntries(kept.headers);
    assert.deepEqual(JSON.parse(headers['Millrace-Request'] ?? '').refused, [0, 2]);
    // As a version would see it that knows the type.
    const known = Buffer.from(kept.payload).toString().replace('"purchase"', '"identify"');
    await bed.publish(kept.from.subject, known, headers);
    await until(async () => (await bed.unsettled()) === 0 && scene.got().length === 3);
  });
});

suite('a request of a source that its cell does not know', () => {
  test('is kept before it is acknowledged, and delivered when it is put back and the cell knows the source', async () => {
    await using scene = await openPoisoned();
    const { bed } = scene;
    await bed.append(track('early'));
    {
      // It waits for an hour by the usual schedule.
      await using _ = await bed.deliver({ cell: 'eu', retryScale: 3_600 });
      await until(async () => (await bed.quarantine.read('request', 1, 10)).length === 1);
      await until(async () => (await bed.unsettled()) === 0);
    }
    assert.deepEqual(scene.got(), []);
    const [kept] = await bed.quarantine.read('request', 1, 10);
    assert.ok(kept !== undefined);
    assert.match(kept.why, /source was not known in this cell/);
    await bed.publish(kept.from.subject, Buffer.from(kept.payload).toString(), Object.fromEntries(kept.headers));
    await using _ = await bed.deliver({ cell: 'eu' });
    await bed.putSource({ cell: 'eu', cells: ['eu'] });
    await until(async () => (await bed.unsettled()) === 0 && scene.got().length === 1);
    assert.deepEqual(scene.got(), ['early']);
  });
});

suite('what a newer process wrote', () => {
  test('is left for it: nothing is acknowledged, sent, quarantined or asked for in a busy loop', async () => {
    await using scene = await openPoisoned();
    const { bed } = scene;
    const newer = { 'Millrace-Format': '2' };
    const envelope = JSON.stringify({ ...ENVELOPE, v: FORMATS.request + 1 });
    await bed.publish(`events.0.${SOURCE_ID}`, '?', { 'Millrace-Request': envelope });
    await scene.lane('?', newer);
    await scene.lane(group(waiting('behind')));
    await bed.publish('lanes.0.dst_1.1', group(waiting('beside')));
    await bed.publish('tickets.due.dst_1', '');
    await bed.publish('tickets.due.dst_2', '{"v":2}');
    await using _ = await bed.deliver();
    await bed.append(track('healthy'));
    await until(() => scene.got().length === 2);
    assert.deepEqual(scene.got().sort(), ['beside', 'healthy']);
    const { delivered } = await bed.manager.consumers.info('TICKETS', 'drain');
    assert.ok(delivered.consumer_seq <= 6, `${delivered.consumer_seq} tickets were given out`);
    assert.equal(await bed.unsettled(), 2, 'the request of a newer format is not acknowledged');
    await until(async () => !('lanes.0.dst_1.1' in (await bed.laneGroups())));
    assert.deepEqual(await bed.laneGroups(), { 'lanes.0.dst_1.0': 2 });
    assert.ok((await bed.tickets()).includes('tickets.due.dst_2'));
    assert.deepEqual(await quarantined(bed), []);
  });

  for (const [what, change] of Object.entries({
    'a newer format': { v: FORMATS.destination + 1, workspaceId: 'ws_1', sourceId: SOURCE_ID, routes: [] },
    'an unknown catalog entry': { catalog: 'Later' },
    'an unknown filter operator': { filters: [{ field: 'event', op: 'sounds_like', value: 'go' }] },
    'an entry that nobody can read': { enabled: 'perhaps' },
  })) {
    test(`a destination with ${what} waits as if paused, and its events are decided by those who understand`, async () => {
      await using scene = await openPoisoned();
      const { bed } = scene;
      const good = destination({ settings: { targets: [{ url: scene.url }] } });
      const put = (value: object) => bed.putEntry('dst_1', value);
      await put({ ...good, ...change });
      await using deliver = await bed.deliver();
      await bed.append(track('go'), track('stop'));
      await until(async () => (await bed.unsettled()) === 0);
      assert.equal(deliver.stats().inFlight, 0);
      assert.deepEqual(Object.keys(await bed.laneGroups()), ['lanes.0.dst_1.0']);
      assert.deepEqual(scene.got(), []);
      await put({ ...good, filters: [{ field: 'event', op: 'equals', value: 'go' }] });
      await until(() => isIdle(bed));
      assert.deepEqual(scene.got(), ['go'], 'the filter is asked when somebody understands it');
    });
  }
});
