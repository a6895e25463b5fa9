import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { laneStreamIndex } from '../stream/layout/layout.ts';
import { type Bed, openBed } from '../../testing/deliver-bed.ts';
import { openReceiver } from '../../testing/receiver.ts';
import { until } from '../../testing/until.ts';
import { track } from '../../testing/samples.ts';

const IDS = Array.from({ length: 6 }, (_, index) => `dst_${index}`);
const EVENTS = 20;

async function laneStreams(bed: Bed): Promise<string[]> {
  const names = await Array.fromAsync(bed.manager.streams.names());
  return names.filter((name) => laneStreamIndex(name) !== undefined).sort();
}

async function waiting(bed: Bed): Promise<number> {
  let groups = 0;
  for (const name of await laneStreams(bed)) groups += (await bed.manager.streams.info(name)).state.messages;
  return groups;
}

async function putAll(bed: Bed, url: string, isPaused: boolean): Promise<void> {
  for (const id of IDS) {
    const settings = { targets: [{ url: new URL(`/${id}`, url).href }] };
    const change = isPaused ? { paused: true } : { resumedAt: new Date().toISOString() };
    await bed.putDestination({ id, settings, ...change });
  }
}

const numbered = (name: string) => Array.from({ length: EVENTS }, (_, index) => track(`${name}-${index}`));

suite('another number of lane streams', { concurrency: true }, () => {
  for (const [from, to] of [
    [1, 3],
    [3, 1],
    [2, 3],
  ] as const) {
    test(`from ${from} to ${to}: what waits in the lanes is delivered, each once, and what comes meanwhile too`, async () => {
      await using bed = await openBed();
      await using receiver = await openReceiver();
      await putAll(bed, receiver.url, true);
      {
        await using _ = await bed.deliverWith({ laneStreams: from });
        await bed.append(...numbered('before'));
        await until(async () => (await bed.unsettled()) === 0);
      }
      assert.ok((await waiting(bed)) >= IDS.length);
      await using _ = await bed.deliverWith({ laneStreams: to });
      await bed.append(...numbered('after'));
      await until(async () => (await bed.unsettled()) === 0);
      await putAll(bed, receiver.url, false);
      await until(() => receiver.received.length >= IDS.length * EVENTS * 2, 60_000);
      await until(async () => (await waiting(bed)) === 0 && (await bed.tickets()).length === 0);
      const ids = new Set(receiver.received.map(({ path, headers }) => `${path} ${headers['webhook-id']?.toString()}`));
      assert.equal(ids.size, IDS.length * EVENTS * 2, 'all of them');
      assert.equal(receiver.received.length, ids.size, 'each once');
      assert.deepEqual(await bed.deadLetters(), []);
    });
  }

  test('in half of the processes: those with the old and those with the new number serve the same lanes', async () => {
    await using bed = await openBed();
    let isDown = true;
    await using receiver = await openReceiver((_, response) => response.writeHead(isDown ? 503 : 200).end());
    await putAll(bed, receiver.url, false);
    await using both = new AsyncDisposableStack();
    both.use(await bed.deliverWith({ laneStreams: 1 }, { retryScale: 20 }));
    let rounds = 0;
    const more = async () => {
      rounds += 1;
      await bed.append(...numbered(`round${rounds}`));
      await until(async () => (await bed.unsettled()) === 0);
    };
    await more();
    both.use(await bed.deliverWith({ laneStreams: 3 }, { retryScale: 20 }));
    // Deliveries are stored by the new number from five seconds after its announcement on: this is before and after that.
    await until(async () => {
      await more();
      return (await inNewPlaces(bed)) > 0;
    }, 60_000);
    await more();
    isDown = false;
    const delivered = () =>
      new Set(receiver.received.map(({ path, headers }) => `${path} ${headers['webhook-id']?.toString()}`)).size;
    await until(() => delivered() === IDS.length * EVENTS * rounds, 60_000);
    await until(async () => (await waiting(bed)) === 0, 60_000);
    await until(async () => (await bed.tickets()).length === 0);
    assert.deepEqual(await bed.deadLetters(), []);
  });
});

async function inNewPlaces(bed: Bed): Promise<number> {
  const streams = await Promise.all(['LANES-1', 'LANES-2'].map((name) => bed.manager.streams.info(name)));
  return streams.reduce((sum, { state }) => sum + state.messages, 0);
}
