import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { hurryTicket, type HurryNeeds } from './hurry-ticket.ts';

const NOW = 1_000_000;
type Read = Awaited<ReturnType<HurryNeeds['read']>>;
type Written = Parameters<HurryNeeds['write']>[0];
const LATER = { held: false, note: 'n', sequence: 7, dueAt: NOW + 60_000 };

/** Shows these tickets one after the other, the last one for ever, and answers each write. */
function needsOf(tickets: Read[], answers: ('stored' | 'conflict' | 'unavailable')[] = ['stored']) {
  const written: Written[] = [];
  const next = <T>(list: T[]): T | undefined => (list.length > 1 ? list.shift() : list[0]);
  const needs: HurryNeeds = {
    read: async () => next(tickets),
    write: async (ticket) => (written.push(ticket), { kind: next(answers) ?? 'stored' }),
    now: () => NOW,
  };
  return { needs, written };
}

suite('a ticket that is hurried', () => {
  test('takes the place of the one that was read, with its note', async () => {
    const { needs, written } = needsOf([LATER]);
    assert.equal(await hurryTicket({ at: NOW, upTo: NOW + 5 }, needs), 'hurried');
    const hurry = { at: NOW, upTo: NOW + 5, plannedAt: LATER.dueAt };
    assert.deepEqual(written, [{ held: false, note: 'n', hurry, expected: 7, dueAt: NOW, isUrgent: true }]);
  });

  test('is read again when another process was faster', async () => {
    const { needs, written } = needsOf([LATER, { ...LATER, sequence: 9 }], ['conflict', 'stored']);
    assert.equal(await hurryTicket({ at: NOW }, needs), 'hurried');
    assert.deepEqual(
      written.map(({ expected }) => expected),
      [7, 9],
    );
  });

  test('stays as it is while it is held, about to fire, or waits to be taken', async () => {
    for (const change of [{ held: true }, { dueAt: NOW + 500 }, { sequence: 0 }]) {
      const { needs, written } = needsOf([{ ...LATER, ...change }]);
      assert.equal(await hurryTicket({ at: NOW }, needs), 'held');
      assert.deepEqual(written, []);
    }
  });

  test('keeps the wider of two requests, and the time that was planned before both', async () => {
    const before = { at: NOW - 5, upTo: NOW + 90, plannedAt: NOW + 20 };
    const { needs, written } = needsOf([{ ...LATER, hurry: before }]);
    await hurryTicket({ at: NOW, upTo: NOW + 10 }, needs);
    assert.deepEqual(written[0]?.hurry, { at: NOW, upTo: NOW + 90, plannedAt: NOW + 20 });
  });

  test('is not made where there is none, nor repeated while NATS is away', async () => {
    assert.equal(await hurryTicket({ at: NOW }, needsOf([undefined]).needs), 'none');
    const { needs, written } = needsOf([LATER], ['unavailable']);
    assert.equal(await hurryTicket({ at: NOW }, needs), 'unavailable');
    assert.equal(written.length, 1);
  });
});
