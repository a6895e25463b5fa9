import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { driver, runClient } from './run-client.ts';
import { assertRequests, assertTold, assertUnknownKeyIsReported, type Teller, tellStory } from './tell-story.ts';

suite('@segment/analytics-node 3.1.0', () => {
  const library = { name: '@segment/analytics-node', version: '3.1.0' };
  const send: Teller = ({ url }, writeKey) =>
    runClient(process.execPath, [driver('segment-node/send-calls.ts'), url, writeKey]);

  test('calls of every type are stored as sent, and its first request is its last', async () => {
    const told = await tellStory(send);
    assertTold(told, { library });
    assertRequests(told, ['POST /v1/batch 200']);
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
});

suite('analytics-node 6.2.0, the library before it', () => {
  const library = { name: 'analytics-node', version: '6.2.0' };
  const send: Teller = ({ url }, writeKey) =>
    runClient(process.execPath, [driver('segment-node-legacy/send-calls.ts'), url, writeKey]);

  test('calls of every type are stored as sent, the first by itself as this library does', async () => {
    const told = await tellStory(send);
    assertTold(told, { library });
    assertRequests(told, ['POST /v1/batch 200', 'POST /v1/batch 200']);
  });

  test('a batch sent again because the answer was lost is stored once', async () => {
    const told = await tellStory(send, { losesFirstAnswer: true });
    assertTold(told, { library });
    assertRequests(told, ['POST /v1/batch 200', 'POST /v1/batch 200', 'POST /v1/batch 200']);
  });

  test('an unknown write key is reported to the caller, and nothing is stored', async () => {
    await assertUnknownKeyIsReported(send);
  });
});
