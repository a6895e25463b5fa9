import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Sighting } from '../stream/signals/sightings.ts';
import { openSeen } from './note-seen.ts';
import { mockBeats } from '../../testing/mock-beats.ts';

const source = { id: 'src_1', workspaceId: 'ws_1', name: 'S', enabled: true, writeKeyHashes: [] };
const TELL_MS = 2_000;
const MINUTE_MS = 60_000;

suite('calls of suppressed users', () => {
  test('are told as the count of the day, and none is lost at midnight', (t) => {
    const time = mockBeats(t);
    let now = Date.parse('2026-11-15T23:59:59.500Z');
    const told: string[] = [];
    const tell = ({ suppressed }: Sighting) => void told.push(`${suppressed?.day} ${suppressed?.count}`);
    using seen = openSeen({ tell, nowMs: () => now });
    const wait = (ms: number) => {
      now += ms;
      time.pass(TELL_MS);
      return told.splice(0);
    };
    seen.noteSuppressed(source, 2);
    now += 1_000;
    seen.noteSuppressed(source, 1);
    assert.deepEqual(wait(TELL_MS), ['2026-11-15 2', '2026-11-16 1']);
    seen.noteSuppressed(source, 1);
    assert.deepEqual(wait(TELL_MS), ['2026-11-16 2']);
    assert.deepEqual(wait(MINUTE_MS), ['2026-11-15 2', '2026-11-16 2'], 'once more, in case nobody listened');
    assert.deepEqual(wait(2 * MINUTE_MS), ['2026-11-16 2'], 'the day that is over is forgotten');
  });
});
