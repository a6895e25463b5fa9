import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { newGate } from './gate.ts';
import { openSlots } from './slots.ts';

function openAt() {
  const clock = { now: 0 };
  const slots = openSlots(10, () => clock.now);
  /** Time passes in turns of the event loop, as it does while attempts are watched. */
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      clock.now += 50;
      slots.findLate();
    }
  };
  return { clock, slots, pass };
}

suite('the slot of an attempt', () => {
  test('casts doubt on a receiver that does not answer, and leaves its place to others', () => {
    const { slots, pass } = openAt();
    const gate = newGate('dst_1', 0, true);
    slots.take(gate, 'works');
    pass(400);
    assert.deepEqual([gate.isDoubted, slots.inUse(), slots.late()], [true, 0, 1]);
  });

  test('casts none on one that has answered, although another target of the destination hangs', () => {
    const { slots, pass } = openAt();
    const gate = newGate('dst_1', 0, true);
    const slot = slots.take(gate, 'works');
    slots.answered(slot);
    pass(4_000);
    assert.deepEqual([gate.isDoubted, slots.inUse(), slots.late()], [false, 0, 1], 'only its place is left to others');
    slots.free(slot);
    assert.equal(slots.late(), 0);
  });

  test('holds up no clock once nothing is watched any more', () => {
    const { clock, slots, pass } = openAt();
    slots.take(newGate('dst_1', 0, true), 'works');
    pass(400);
    assert.equal(slots.watched(), 0);
    const before = slots.now();
    clock.now += 3_600_000;
    assert.ok(slots.now() - before >= 3_600_000, 'an hour without attempts is an hour');
  });
});
