import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PositionState } from './profiles/profile-store.ts';
import { LEASE_MS, openSharing, type PositionLook } from './share-positions.ts';

const NAMES = ['EVENTS-0', 'EVENTS-1', 'EVENTS-2', 'EVENTS-3'];

const row = (stream: string, holder: string | undefined, beat = '1'): PositionState => ({
  definitionsVersion: 0,
  stream,
  holder,
  beat,
  epoch: 1,
  position: undefined,
});

function openLooks() {
  const sharing = openSharing('me');
  return (change: Partial<PositionLook>) =>
    sharing.look({ names: NAMES, rows: [], held: new Set(), processes: 1, nowMs: 0, ...change });
}

suite('positions', () => {
  test('that have no holder are taken at once, up to the share of the process', () => {
    const look = openLooks();
    assert.deepEqual(look({}).take, NAMES);
    assert.deepEqual(look({ processes: 2 }).take, ['EVENTS-0', 'EVENTS-1']);
    const rows = NAMES.map((name) => row(name, undefined));
    assert.deepEqual(look({ rows, processes: 3, held: new Set(['EVENTS-3']) }).take, ['EVENTS-0']);
  });

  test('of another process are taken when it has been silent for a lease, and not a moment earlier', () => {
    const look = openLooks();
    const rows = NAMES.map((name) => row(name, 'other'));
    assert.deepEqual(look({ rows, nowMs: 1_000 }).take, []);
    assert.deepEqual(look({ rows, nowMs: 1_000 + LEASE_MS - 1 }).take, []);
    assert.deepEqual(look({ rows, nowMs: 1_000 + LEASE_MS }).take, NAMES);
  });

  test('of a process that commits are left alone, however long it goes on', () => {
    const look = openLooks();
    for (let nth = 0; nth < 20; nth += 1) {
      const rows = NAMES.map((name) => row(name, 'other', String(nth)));
      assert.deepEqual(look({ rows, nowMs: nth * LEASE_MS * 0.9 }).take, []);
    }
  });

  test('that this process holds without reading them are taken again at once', () => {
    const look = openLooks();
    const rows = [row('EVENTS-0', 'me'), ...NAMES.slice(1).map((name) => row(name, 'other'))];
    assert.deepEqual(look({ rows, processes: 4 }).take, ['EVENTS-0']);
  });

  test('are given back one at a time by a process that holds more than its share', () => {
    const look = openLooks();
    const rows = NAMES.map((name) => row(name, 'me'));
    assert.deepEqual(look({ rows, held: new Set(NAMES), processes: 2 }).giveBack, ['EVENTS-3']);
    assert.deepEqual(look({ rows, held: new Set(NAMES.slice(0, 2)), processes: 2 }).giveBack, []);
  });

  test('that no other process takes are taken beyond the share, and kept for a while', () => {
    const look = openLooks();
    const rows = NAMES.map((name) => row(name, name === 'EVENTS-3' ? 'dead' : 'me'));
    const held = new Set(NAMES.slice(0, 2));
    const now = (nowMs: number) => look({ rows, held, processes: 2, nowMs }).take.includes('EVENTS-3');
    assert.deepEqual([now(0), now(LEASE_MS), now(2 * LEASE_MS)], [false, false, true]);
    const all = { rows, held: new Set(NAMES), processes: 2 };
    assert.deepEqual(look({ ...all, nowMs: 3 * LEASE_MS }).giveBack, []);
    assert.deepEqual(look({ ...all, nowMs: 40 * LEASE_MS }).giveBack, ['EVENTS-3']);
  });

  test('that nobody ever held are taken beyond the share too, when the process that should take them does not', () => {
    const look = openLooks();
    const rows = NAMES.slice(0, 2).map((name) => row(name, 'me'));
    const held = new Set(NAMES.slice(0, 2));
    const take = (nowMs: number) => look({ rows, held, processes: 2, nowMs }).take;
    assert.deepEqual([take(0), take(LEASE_MS), take(2 * LEASE_MS)], [[], [], ['EVENTS-2', 'EVENTS-3']]);
  });

  test('of streams that are gone are given back', () => {
    const look = openLooks();
    assert.deepEqual(look({ names: ['EVENTS-0'], held: new Set(['EVENTS-0', 'EVENTS-1']) }).giveBack, ['EVENTS-1']);
  });
});
