import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCollector } from './collector.ts';
import { gotten, runClient } from './run-client.ts';
import { ORDERED_AT, WRITE_KEY } from './story.ts';
import { assertRequests, assertTold, assertUnknownKeyIsReported, type Teller, tellStory } from './tell-story.ts';

const MANY = 10_000;
const KILLS = 3;

suite("Millrace's Go library", () => {
  const send: Teller = ({ url }, writeKey) => runClient(gotten('millrace-go/millrace-go'), [url, writeKey]);

  test('calls of every type are stored as sent, in one request, each naming the library', async () => {
    const told = await tellStory(send);
    assertTold(told, { library: { name: 'millrace-go', version: '0.1.0' } });
    assertRequests(told, ['POST /v1/batch 200']);
    const { track, identify } = told.events;
    assert.equal(track['timestamp'], ORDERED_AT, 'to the millisecond, since nothing is taken for a wrong clock');
    assert.equal(identify['timestamp'], identify['originalTimestamp']);
    assert.equal(identify['sentAt'], undefined);
  });

  test('an unknown write key is reported to the caller, and nothing is stored', async () => {
    await assertUnknownKeyIsReported(send);
  });

  test(`ten thousand calls through a collector killed ${KILLS} times at random are each stored once`, async () => {
    await using collector = await startCollector();
    const sent = runClient(gotten('millrace-go/millrace-go'), [collector.url, WRITE_KEY, String(MANY)]);
    for (let kills = 0; kills < KILLS; kills++) {
      await sleep(300 + Math.random() * 1_200);
      await collector.killAndRestart();
    }
    await sent;
    const ids = (await collector.storedEvents()).map(({ event }) => String(event['messageId']));
    assert.equal(new Set(ids).size, MANY, 'every call is stored');
    assert.equal(ids.length, MANY, 'a request sent again was recognised');
  });
});
