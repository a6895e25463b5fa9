import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openBed } from '../../../testing/deliver-bed.ts';
import { KNOWN_FOR_MS, openWorked } from './worked.ts';
import { until } from '../../../testing/until.ts';

suite('receivers that worked lately', () => {
  test('are known to the other processes within seconds, and to a new one from its start on', async () => {
    await using bed = await openBed();
    await using first = await bed.stream.deliverySide();
    await using second = await bed.stream.deliverySide();
    await using one = await openWorked({ bucket: first.worked, now: Date.now });
    await using other = await openWorked({ bucket: second.worked, now: Date.now });
    const names = Array.from({ length: 500 }, (_, nth) => `dst_${nth}`);
    for (const name of names) one.note(name);
    assert.ok(one.isKnown('dst_0'));
    await until(() => names.every((name) => other.isKnown(name)));
    assert.equal(other.isKnown('dst_new'), false);
    await using late = await openWorked({ bucket: second.worked, now: Date.now });
    assert.ok(names.every((name) => late.isKnown(name)));
  });

  test('outlive a restart of all processes and of the engine', async () => {
    await using bed = await openBed();
    {
      await using side = await bed.stream.deliverySide();
      await using one = await openWorked({ bucket: side.worked, now: Date.now });
      await using other = await openWorked({ bucket: side.worked, now: Date.now });
      one.note('dst_1');
      await until(() => other.isKnown('dst_1'));
    }
    const [node] = bed.cluster.nodes;
    await node?.kill('SIGKILL');
    await node?.start();
    await using side = await bed.stream.deliverySide();
    await using worked = await openWorked({ bucket: side.worked, now: Date.now });
    assert.ok(worked.isKnown('dst_1'));
  });

  test('are forgotten a day after the last sign, by the clock of each process', async () => {
    await using bed = await openBed();
    await using side = await bed.stream.deliverySide();
    const clock = { now: Date.now() };
    await using worked = await openWorked({ bucket: side.worked, now: () => clock.now });
    worked.note('dst_1');
    clock.now += KNOWN_FOR_MS - 60_000;
    assert.ok(worked.isKnown('dst_1'));
    clock.now += 60_001;
    assert.equal(worked.isKnown('dst_1'), false);
  });

  test('are written once an hour, however often they work and whoever wrote it', async () => {
    const puts: string[] = [];
    let mark: (id: string, at: number) => void = () => undefined;
    const clock = { now: Date.now() };
    const bucket = {
      put: (id: string) => void puts.push(id),
      async watch(marked: (id: string, at: number) => void) {
        mark = marked;
        return { [Symbol.asyncDispose]: async () => undefined };
      },
    };
    await using worked = await openWorked({ bucket, now: () => clock.now });
    mark('dst_theirs', clock.now - 60_000);
    for (let time = 0; time < 1_000; time += 1) for (const id of ['dst_ours', 'dst_theirs']) worked.note(id);
    await until(() => puts.length > 0);
    await nextTurn();
    assert.deepEqual(puts, ['dst_ours']);
    clock.now += 3_600_000;
    for (const id of ['dst_ours', 'dst_theirs']) worked.note(id);
    await until(() => puts.length === 3);
    assert.deepEqual(puts.slice(1), ['dst_ours', 'dst_theirs']);
  });
});
