import './virtual-globals.ts';
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openVirtualClock, running, type VirtualProcess } from './virtual-clock.ts';

const STARTS_AT = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

function openBed() {
  const failures: string[] = [];
  const clock = openVirtualClock({ startsAt: STARTS_AT, failed: (_, error) => failures.push(String(error)) });
  const start = (name: string) => clock.start(name, () => 0.5);
  return { clock, start, failures };
}

const inside = <T>(process: VirtualProcess, run: () => T): T => running.run(process, run);

suite('the virtual clock', () => {
  test('runs events in the order of their times, and those of one time in the order in which they were made', async () => {
    const { clock, start } = openBed();
    const process = start('a');
    const seen: string[] = [];
    for (const [name, ms] of [
      ['late', 20],
      ['first', 10],
      ['second', 10],
    ] as const)
      clock.after(ms, process, () => seen.push(`${name} ${clock.now()}`));
    await clock.runUntil(100);
    assert.deepEqual(seen, ['first 10', 'second 10', 'late 20']);
    assert.equal(clock.now(), 100);
  });

  test('settles promises between two events', async () => {
    const { clock, start } = openBed();
    const process = start('a');
    const seen: string[] = [];
    clock.after(1, process, () => {
      void Promise.resolve()
        .then(() => undefined)
        .then(() => seen.push('then'));
    });
    clock.after(1, process, () => seen.push('event'));
    await clock.runUntil(2);
    assert.deepEqual(seen, ['then', 'event']);
  });

  test('gives a day of timers, intervals and sleeps at once, with the time that they would see', async () => {
    const { clock, start } = openBed();
    const process = start('a');
    const seen: number[] = [];
    let ticks = 0;
    void inside(process, async () => {
      const ticking = setInterval(() => (ticks += 1), 3_600_000);
      await sleep(DAY_MS + 1);
      clearInterval(ticking);
      seen.push(performance.now(), Date.now() - STARTS_AT, new Date().getTime() - STARTS_AT);
    });
    await clock.runUntil(2 * DAY_MS);
    assert.deepEqual(seen, [DAY_MS + 1, DAY_MS + 1, DAY_MS + 1]);
    assert.equal(ticks, 24);
  });

  test('drops the events of a dead process, and keeps those of a paused one until it goes on', async () => {
    const { clock, start } = openBed();
    const [dead, paused] = [start('dead'), start('paused')];
    const seen: string[] = [];
    inside(dead, () => setTimeout(() => seen.push('dead'), 10));
    inside(paused, () => setTimeout(() => seen.push(`paused ${performance.now()}`), 10));
    clock.kill(dead);
    clock.pause(paused);
    await clock.runUntil(50);
    assert.deepEqual(seen, []);
    clock.resume(paused);
    await clock.runUntil(60);
    assert.deepEqual(seen, ['paused 50']);
  });

  test('shows each process the clock of its host', async () => {
    const { clock, start } = openBed();
    const [one, other] = [start('one'), start('other')];
    other.aheadMs = 5_000;
    assert.equal(
      inside(one, () => Date.now()),
      STARTS_AT,
    );
    assert.equal(
      inside(other, () => Date.now()),
      STARTS_AT + 5_000,
    );
    await clock.runUntil(1);
  });

  test('tells of an error that would have ended the process', async () => {
    const { clock, start, failures } = openBed();
    inside(start('a'), () =>
      setTimeout(() => {
        throw new Error('ours');
      }, 1),
    );
    await clock.runUntil(2);
    assert.deepEqual(failures, ['Error: ours']);
  });
});

test('code outside of the simulation keeps its clocks and its dice', () => {
  assert.ok(Math.abs(Date.now() - performance.timeOrigin - performance.now()) < 60_000);
  assert.notEqual(Math.random(), Math.random());
});
