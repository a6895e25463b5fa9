import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { driver, gotten, runClient } from './run-client.ts';
import { assertRequests, assertTold, assertUnknownKeyIsReported, type Teller, tellStory } from './tell-story.ts';

suite('segment-analytics-python 2.3.6', () => {
  const library = { name: 'analytics-python', version: '2.3.6' };
  const send =
    (encoding: 'gzip' | 'plain'): Teller =>
    ({ url }, writeKey) =>
      runClient('python3', [driver('segment-python/send_calls.py'), url, writeKey, encoding], {
        PYTHONPATH: gotten('segment-python'),
      });

  test('calls of every type are stored as sent, with the write key in the body only', async () => {
    const told = await tellStory(send('plain'));
    assertTold(told, { library });
    assertRequests(told, ['POST /v1/batch 200']);
    assert.equal(told.exchanges[0]?.headers.authorization, undefined);
  });

  test('calls of every type are stored as sent when compressed', async () => {
    const told = await tellStory(send('gzip'));
    assertTold(told, { library });
    assertRequests(told, ['POST /v1/batch 200']);
    assert.equal(told.exchanges[0]?.headers['content-encoding'], 'gzip');
  });

  test('a batch sent again because the answer was lost is stored once', async () => {
    const told = await tellStory(send('plain'), { losesFirstAnswer: true });
    assertTold(told, { library });
    assertRequests(told, ['POST /v1/batch 200', 'POST /v1/batch 200']);
  });

  test('an unknown write key is reported to the caller, and nothing is stored', async () => {
    await assertUnknownKeyIsReported(send('plain'));
  });
});
