import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { driver, gotten, runClient } from './run-client.ts';
import { story, type Story } from './story.ts';
import { assertRequests, assertTold, assertUnknownKeyIsReported, type Teller, tellStory } from './tell-story.ts';

suite('analytics-java 3.5.4', () => {
  const says: Story = {
    ...story,
    // It leaves out what is null.
    track: {
      ...story.track,
      properties: { revenue: 12.5, currency: 'EUR', products: [{ sku: 'A-1', quantity: 2 }] },
    },
  };

  const send: Teller = ({ url }, writeKey) => {
    const jars = `${gotten('segment-java')}/*`;
    // The source is in UTF-8 under any locale.
    return runClient('java', [
      '-Dfile.encoding=UTF-8',
      '-cp',
      jars,
      driver('segment-java/SendCalls.java'),
      url,
      writeKey,
    ]);
  };

  test('calls of every type are stored as sent to /v1/import/, slash included', async () => {
    const told = await tellStory(send);
    assertTold(told, { library: { name: 'analytics-java', version: '3.5.4' }, says });
    assertRequests(told, ['POST /v1/import/ 200']);
    assert.equal(told.exchanges[0]?.headers.authorization, undefined, 'the write key is in the body only');
  });

  test('an unknown write key is reported to the caller, and nothing is stored', async () => {
    await assertUnknownKeyIsReported(send);
  });
});
