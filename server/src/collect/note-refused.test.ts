import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { checkRequest } from '@millrace/contract';
import type { RefusedCalls } from '../stream/signals/refusals.ts';
import { openRefused } from './note-refused.ts';
import { mockBeats } from '../../testing/mock-beats.ts';

const source = { id: 'src_1', workspaceId: 'ws_1', name: 'S', enabled: true, writeKeyHashes: [], blockedEvents: [] };
const found = { source, writeKey: 'wk_secret', keyHash: 'h' };

function toldOf(t: TestContext, bodies: unknown[], hidden: number[] = []): RefusedCalls[] {
  const time = mockBeats(t);
  const told: RefusedCalls[] = [];
  using refused = openRefused({ tell: (calls) => told.push(calls), nowMs: () => 0 });
  for (const body of bodies) {
    const check = checkRequest(body, 'batch', 10);
    refused.note(found, { body, shape: 'batch', hidden, ...check });
  }
  time.pass(1_000);
  return told;
}

suite('refused calls', () => {
  test('are counted by reason and shown without the write key', (t) => {
    const call = {
      type: 'track',
      userId: 'u',
      messageId: 'm',
      writeKey: 'wk_secret',
      properties: { copy: 'wk_secret' },
    };
    const [told] = toldOf(t, [{ batch: [call, { type: 'track', event: 'ok', userId: 'u' }] }]);
    assert.deepEqual([told?.code, told?.count, told?.samples[0]?.messageId], ['event_not_defined', 1, 'm']);
    assert.ok(!JSON.stringify(told).includes('wk_secret'));
  });

  test('of a suppressed user are counted, and nothing of them is shown', (t) => {
    const call = { type: 'track', userId: 'gone', messageId: 'm' };
    const whole = { batch: [], userId: 'gone', messageId: 'm' };
    const [told, ofWhole] = toldOf(t, [{ batch: [call, { type: 'track', userId: 'u', messageId: 'n' }] }, whole], [0]);
    assert.deepEqual([told?.count, told?.samples.map(({ messageId }) => messageId)], [2, ['n', undefined]]);
    assert.ok(!JSON.stringify([told, ofWhole]).includes('gone'));
    assert.equal(ofWhole?.code, 'empty_batch');
  });

  test('cost little when there are many, and no stack however deep they are', (t) => {
    const batch = Array.from({ length: 100 }, () => ({ type: 'track', userId: 'u' }));
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    const told = toldOf(t, [{ batch }, { batch: [{ type: 'track', event: 'E', userId: 'u', properties: { deep } }] }]);
    assert.deepEqual(
      told.map(({ code, count, samples }) => [code, count, samples.length]),
      [
        ['event_not_defined', 100, 20],
        ['too_deep', 1, 1],
      ],
    );
  });
});
