import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Definition } from '@millrace/contract/audiences';
import { AT, eventOf, folded, HOUR, planOf, userOf } from '../../../testing/compute/plans.ts';
import { addParts, foldPast } from '../fold/backfill.ts';
import type { Marks } from '../profiles/withheld-marks.ts';
import { foldBusy, isStale, type KeptEvent, makeRoom, newPass } from './backfill-pass.ts';

const MOST = 30;
const SPENT: Definition = {
  kind: 'trait',
  name: 'T',
  compute: 'sum',
  event: 'E',
  field: 'properties.total',
  window: '2d',
};
const nobody: Marks = { erasures: 0, isWithheld: () => false };

const kept = (own: string, nth: number): KeptEvent => ({
  ...eventOf({ messageId: `${own}-${nth}`, at: AT + nth * 60_000, properties: { total: 1 } }),
  own,
});

suite('a pass of the backfill', () => {
  const plan = planOf(SPENT);
  const slots = new Set(plan.measures.keys());
  const toFold = { plan, slots, marks: nobody };

  test('holds no more events than fit, however many one id has, and they amount to the same', () => {
    const pass = newPass();
    const all = Array.from({ length: 1_000 }, (_, nth) => kept('busy', nth));
    for (let at = 0; at < all.length; at += 20) {
      pass.events.push(...all.slice(at, at + 20));
      if (makeRoom(pass, MOST)) foldBusy(pass, pass.events.splice(0), toFold);
      assert.ok(pass.events.length <= MOST);
    }
    foldBusy(pass, pass.events.splice(0), toFold);
    const profile = userOf(folded(plan, eventOf({ receivedAt: AT + 20 * HOUR, properties: { total: 0 } })));
    assert.ok(pass.busy);
    assert.deepEqual(addParts(profile, pass.busy.past, plan).state, foldPast(profile, all, plan, slots).state);
  });

  test('leaves a busy id to the next one when lower keys come', () => {
    const pass = newPass();
    pass.events.push(...Array.from({ length: 40 }, (_, nth) => kept('m', nth)));
    if (makeRoom(pass, MOST)) foldBusy(pass, pass.events.splice(0), toFold);
    assert.equal(pass.busy?.own, 'm');
    pass.events.push(...Array.from({ length: 40 }, (_, nth) => kept(`a${nth % 2}`, nth)));
    assert.equal(makeRoom(pass, MOST), false);
    assert.deepEqual([pass.busy, pass.through, pass.events.length], [undefined, 'a0', 20]);
  });

  test('knows when its busy id was erased after its first events were folded', () => {
    const pass = newPass();
    foldBusy(pass, [kept('busy', 5), kept('busy', 2), kept('busy', 9)], toFold);
    const erasedBefore = (minute: number): Marks => ({
      erasures: 1,
      isWithheld: (_, { receivedAt }) => Date.parse(receivedAt) < AT + minute * 60_000,
    });
    assert.ok(pass.busy);
    assert.deepEqual([isStale(pass.busy, erasedBefore(2)), isStale(pass.busy, erasedBefore(3))], [false, true]);
  });
});
