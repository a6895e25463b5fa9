import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openLog } from '../log.ts';
import type { Store } from '../store/open-store.ts';
import { type RecordersNeeds, shareRecording, startRecorders } from './record-streams.ts';
import { until } from '../../testing/until.ts';

const log = openLog({ level: 'silent', pretty: false });

suite('the recorders of several cells', () => {
  test('share the memory of the process', async () => {
    const rooms: (() => number)[] = [];
    const side: Partial<RecordersNeeds['side']> = {
      outcomesStreams: async () => ['OUTCOMES-0'],
      pullOutcomes({ room }) {
        rooms.push(room);
        return { async [Symbol.asyncDispose]() {} };
      },
    };
    const settings = { recordRetentionMs: 1, counterRetentionMs: 1, sample: 1, rows: 0 };
    const needs = { store: {} as Store, settings, now: () => new Date(), log };
    const shared = shareRecording(8);
    await using recorders = new AsyncDisposableStack();
    for (let i = 0; i < 2; i += 1) {
      recorders.use(startRecorders({ ...needs, side: side as RecordersNeeds['side'], shared }));
    }
    await until(() => rooms.length === 2);
    assert.deepEqual(
      rooms.map((room) => room()),
      [100, 100],
    );
  });

  test('share the connections to PostgreSQL', async () => {
    const { turns } = shareRecording(3);
    for (let i = 0; i < 4; i += 1) await turns.enter();
    let isInside = false;
    const fifth = turns.enter().then(() => (isInside = true));
    assert.equal(isInside, false);
    turns.leave();
    await fifth;
  });
});
