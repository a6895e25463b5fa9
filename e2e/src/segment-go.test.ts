import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { suite, test } from 'node:test';
import { driver, gotten, runClient } from './run-client.ts';
import { story, type Story } from './story.ts';
import { assertRequests, assertTold, assertUnknownKeyIsReported, type Teller, tellStory } from './tell-story.ts';

suite('analytics-go v3', () => {
  // Its page call has no category, and its DisableAll writes `all` in lower case.
  const { category: _, ...page } = story.page;
  const says: Story = { ...story, page, track: { ...story.track, integrations: { all: false, Webhooks: true } } };

  const send: Teller = ({ url }, writeKey) => runClient(gotten('segment-go/segment-go'), [url, writeKey]);

  test('calls of every type are stored as sent, with the library named once for the whole batch', async () => {
    const told = await tellStory(send);
    assertTold(told, { library: { name: 'analytics-go', version: '3.0.0' }, says });
    assertRequests(told, ['POST /v1/batch 200']);
    assert.equal(told.events.track['originalTimestamp'], '2020-01-01T01:00:00+01:00', 'as the caller wrote it');
    assert.match(String(told.events.identify['originalTimestamp']), /\.\d{4,9}Z$/, 'finer than milliseconds');
  });

  test('an unknown write key is reported to the caller, and nothing is stored', async () => {
    await assertUnknownKeyIsReported(send);
  });
});

/**
 * Not the library but one request of it, recorded on loopback: its module is refused by the Go proxy.
 * It was built with stand-ins for three small modules it uses, which write the ids and the times in the same form.
 */
suite('analytics-go v2.1.1, one recorded request', () => {
  test('every call is stored as sent, with the times it writes without a colon in the zone', async () => {
    const body = await readFile(driver('segment-go-v2/recorded-batch.json'), 'utf8');
    const { events } = await tellStory(async ({ url }, writeKey) => {
      const authorization = `Basic ${btoa(`${writeKey}:`)}`;
      const headers = {
        'user-agent': 'analytics-go (version: 2.1.0)',
        'content-type': 'application/json',
        authorization,
      };
      const answer = await fetch(`${url}/v1/batch`, { method: 'POST', headers, body });
      assert.equal(answer.status, 200);
      assert.deepEqual(await answer.json(), { success: true });
    });
    const { identify, track, page, group, alias } = events;
    assert.partialDeepStrictEqual(identify, { userId: 'u1', traits: { email: 'a@b.c' } });
    assert.partialDeepStrictEqual(track, { userId: 'u1', event: 'Order Completed', properties: { revenue: 12.5 } });
    assert.deepEqual(track['integrations'], { All: false, Webhooks: true });
    assert.partialDeepStrictEqual(page, { anonymousId: 'an', name: 'Home', category: 'Docs' });
    assert.deepEqual(page['properties'], { url: 'https://x.test/' }, 'what its caller gave as traits of a page');
    assert.partialDeepStrictEqual(group, { userId: 'u1', groupId: 'g1', traits: { plan: 'pro' } });
    assert.partialDeepStrictEqual(alias, { userId: 'u2', previousId: 'u1' });
    for (const event of [identify, track, page, group, alias]) {
      assert.deepEqual(event['context'], { library: { name: 'analytics-go', version: '2.1.0' } });
      assert.equal(event['sentAt'], '2026-11-15T00:08:46.000Z');
    }
    assert.equal(identify['originalTimestamp'], '2026-11-15T00:08:46+0000');
    assert.equal(identify['timestamp'], identify['receivedAt'], 'it happened when it was sent, and was received now');
  });
});
