import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { newDelivery } from '../domain/delivery.ts';
import type { OutcomeEntry } from '../domain/outcome.ts';
import { type Bed, destination, openBed, SOURCE_ID, WORKSPACE_ID } from '../../testing/deliver-bed.ts';
import { answer, openReceiver } from '../../testing/receiver.ts';
import { until } from '../../testing/until.ts';
import { track } from '../../testing/samples.ts';

/** A minute of waiting for a destination that may be newer than our copy is a quarter of a second. */
const RETRY_SCALE = 240;

async function outcomes(bed: Bed): Promise<OutcomeEntry[]> {
  const text = await bed.textOf('OUTCOMES');
  const batches = text.split('\n').filter((line) => line !== '');
  return batches.flatMap((line) => (JSON.parse(line) as { entries: OutcomeEntry[] }).entries);
}

const givenUp = async (bed: Bed) => (await outcomes(bed)).filter(({ kind }) => kind === 'given_up');
const isIdle = async (bed: Bed) =>
  Object.keys(await bed.laneGroups()).length === 0 && (await bed.tickets()).length === 0;

suite('a destination that is deleted while deliveries wait', () => {
  test('gives each of them up, and the record hears of it with the reason', async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver(answer(500));
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using _ = await bed.deliver({ retryScale: RETRY_SCALE / 10 });
    await bed.append(...['a', 'b', 'c', 'd', 'e'].map((name) => track(name)));
    await until(async () => (await bed.unsettled()) === 0 && receiver.received.length >= 5);
    await bed.deleteDestination('dst_1');
    await until(() => isIdle(bed), 60_000);
    const ended = await givenUp(bed);
    assert.deepEqual(ended.map(({ messageId }) => messageId).sort(), ['m-a', 'm-b', 'm-c', 'm-d', 'm-e']);
    for (const entry of ended) {
      assert.ok(entry.kind === 'given_up' && entry.reason === 'destination_deleted');
      assert.deepEqual([entry.workspaceId, entry.sourceId], [WORKSPACE_ID, SOURCE_ID]);
      assert.ok(entry.attempts >= 1);
    }
    assert.deepEqual(await bed.deadLetters(), [], 'there is nothing left that a dead letter could be sent to');
  });

  test('gives a long lane up in turns, group by group, also for a process that never knew the destination', async () => {
    await using bed = await openBed();
    const at = new Date().toISOString();
    const event = { type: 'track', event: 'e', messageId: '', context: {}, receivedAt: at, timestamp: at } as const;
    const groups = 30;
    for (let group = 0; group < groups; group += 1) {
      const deliveries = Array.from({ length: 100 }, (_, nth) => {
        const messageId = `m-${group}-${nth}`;
        return newDelivery(`dlv_${messageId}`, { ...event, messageId }, Date.now());
      });
      await bed.publish('lanes.0.dst_gone.0', JSON.stringify(deliveries));
    }
    await bed.publish('tickets.due.dst_gone', '');
    await using _ = await bed.deliver({ retryScale: RETRY_SCALE });
    await until(() => isIdle(bed), 60_000);
    const ended = await givenUp(bed);
    assert.equal(new Set(ended.map(({ messageId }) => messageId)).size, groups * 100);
    assert.equal(ended.length, groups * 100, 'each once');
  });

  test('gives up also what a position of another lane stream would pass over', async () => {
    await using bed = await openBed();
    const at = new Date().toISOString();
    const event = { type: 'track', event: 'e', messageId: 'm', context: {}, receivedAt: at, timestamp: at } as const;
    await bed.publish('lanes.0.dst_gone.0', JSON.stringify([newDelivery('dlv_m', event, Date.now())]));
    const note = { next: { 0: { sequence: 2, taken: 0 } }, home: 1 };
    await bed.publish('tickets.due.dst_gone', JSON.stringify({ held: false, note: JSON.stringify(note) }));
    await using _ = await bed.deliver({ retryScale: RETRY_SCALE });
    await until(() => isIdle(bed), 60_000);
    assert.deepEqual(
      (await givenUp(bed)).map(({ messageId }) => messageId),
      ['m'],
    );
  });

  test('that comes back within a minute loses nothing', async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver();
    const settings = { targets: [{ url: receiver.url }] };
    await bed.putDestination({ settings, paused: true });
    await using _ = await bed.deliver({ retryScale: 1 });
    await bed.append(track('kept'));
    await until(async () => (await bed.unsettled()) === 0);
    await bed.deleteDestination('dst_1');
    await bed.putDestination({ settings, updatedAt: '2026-01-02T00:00:00Z' });
    await until(() => receiver.received.length === 1);
    assert.deepEqual(await givenUp(bed), []);
  });

  test('whose entry only cannot be read keeps everything', async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver();
    const settings = { targets: [{ url: receiver.url }] };
    await bed.putDestination({ settings, paused: true });
    await using _ = await bed.deliver({ retryScale: RETRY_SCALE });
    await bed.append(track('kept'));
    await until(async () => (await bed.unsettled()) === 0);
    await bed.publish('$KV.config.destination.dst_1', '{"broken');
    await bed.append(track('behind'));
    await until(async () => (await bed.unsettled()) === 0);
    await bed.putEntry('dst_1', destination({ settings }));
    await until(() => receiver.received.length === 2);
    assert.deepEqual(await givenUp(bed), []);
  });
});
