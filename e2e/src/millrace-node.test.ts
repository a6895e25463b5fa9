/** Our own client, packed, through the real server. `MILLRACE_CLIENT_CALLS=10000` is the full size of the last story. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCollector } from './collector.ts';
import { driver, gotten, runClient } from './run-client.ts';
import { WRITE_KEY } from './story.ts';
import { assertRequests, assertTold, assertUnknownKeyIsReported, type Teller, tellStory } from './tell-story.ts';

const CALLS = Number(process.env['MILLRACE_CLIENT_CALLS'] ?? 1_000);
const KILLS = 1 + Math.ceil(CALLS / 2_000);

suite('@millrace/node', () => {
  const packed = gotten('millrace-node');
  const { name, version } = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8')) as Record<string, string>;
  const library = { name, version };
  const send: Teller = ({ url }, writeKey) =>
    runClient(process.execPath, [driver('millrace-node/send-calls.ts'), packed, url, writeKey]);

  test('calls of every type are stored as sent, in one request', async () => {
    const told = await tellStory(send);
    assertTold(told, { library });
    assertRequests(told, ['POST /v1/batch 200']);
    assert.equal(told.exchanges[0]?.headers['content-encoding'], 'gzip');
  });

  test('a batch sent again because the answer was lost is stored once', async () => {
    const told = await tellStory(send, { losesFirstAnswer: true });
    assertTold(told, { library });
    assertRequests(told, ['POST /v1/batch 200', 'POST /v1/batch 200']);
    assert.equal(told.exchanges[1]?.headers['x-retry-count'], '1');
  });

  test('an unknown write key is reported to the caller, and nothing is stored', async () => {
    await assertUnknownKeyIsReported(send);
  });

  test(`${CALLS} calls through a server that is killed and restarted at random are all stored, and stored once`, async () => {
    await using collector = await startCollector();
    const args = [driver('millrace-node/send-many.ts'), packed, collector.url, WRITE_KEY, String(CALLS)];
    const killing = async () => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await sleep(Math.random() * 500);
        await collector.killAndRestart();
      }
    };
    await Promise.all([runClient(process.execPath, args), killing()]);
    const ids = (await collector.storedEvents()).map(({ event }) => String(event['messageId']));
    const made = Array.from({ length: CALLS }, (_, index) => `call-${index + 1}`);
    assert.deepEqual(ids.sort(), made.sort());
  });
});
