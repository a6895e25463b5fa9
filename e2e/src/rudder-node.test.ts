import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { driver, runClient } from './run-client.ts';
import { assertRequests, assertTold, assertUnknownKeyIsReported, type Teller, tellStory } from './tell-story.ts';

suite('@rudderstack/rudder-sdk-node 3.0.13', () => {
  const library = { name: 'analytics-node', version: '3.0.13' };
  const send =
    (encoding: 'gzip' | 'plain'): Teller =>
    ({ url }, writeKey) =>
      runClient(process.execPath, [driver('rudder-node/send-calls.ts'), url, writeKey, encoding]);

  test('calls of every type are stored as sent when compressed and labelled as a form, its default', async () => {
    const told = await tellStory(send('gzip'));
    assertTold(told, { library });
    assertRequests(told, ['POST /v1/batch 200', 'POST /v1/batch 200']);
    for (const { headers } of told.exchanges) {
      assert.equal(headers['content-encoding'], 'gzip');
      assert.equal(headers['content-type'], 'application/x-www-form-urlencoded');
    }
    // Beside the time its caller gave it sends the time of the call: the first is when it happened.
    assert.match(String(told.events.track['timestamp']), /^2020-/);
    assert.doesNotMatch(String(told.events.track['originalTimestamp']), /^2020-/);
  });

  test('calls of every type are stored as sent when not compressed', async () => {
    const told = await tellStory(send('plain'));
    assertTold(told, { library });
    assertRequests(told, ['POST /v1/batch 200', 'POST /v1/batch 200']);
    for (const { headers } of told.exchanges) assert.equal(headers['content-encoding'], undefined);
  });

  test('a batch sent again because the answer was lost is stored once', async () => {
    const told = await tellStory(send('gzip'), { losesFirstAnswer: true });
    assertTold(told, { library });
    assertRequests(told, ['POST /v1/batch 200', 'POST /v1/batch 200', 'POST /v1/batch 200']);
  });

  test('an unknown write key is reported to the caller, and nothing is stored', async () => {
    await assertUnknownKeyIsReported(send('gzip'));
  });
});
