import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { groupsOf, openLaneAppender } from './append-to-lane.ts';
import type { Kept } from './shares.ts';
import type { Ensured } from './tickets.ts';

const PLACE = { destinationId: 'dst_1', tier: 0 };
const WANTED = () => ({ dueAt: 1_000, hurry: true });

/** An appender over a lane and tickets that answer as told, and the steps that it took. */
function openBench(answers: { write?: Kept[]; ensure?: (Ensured | Error)[] } = {}) {
  const steps: string[] = [];
  const appender = openLaneAppender({
    async write(_place, { payload, isByHolder }) {
      steps.push(`write ${payload.toString()}${isByHolder ? ' by holder' : ''}`);
      return answers.write?.shift() ?? 'stored';
    },
    tickets: {
      async ensure(destinationId, { dueAt }) {
        steps.push(`ensure ${destinationId} ${dueAt}`);
        const answer = answers.ensure?.shift() ?? 'made';
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
  });
  return { appender, steps };
}

async function whenStored<T extends string>(step: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await step();
    if (answer !== 'unavailable') return answer;
  }
}

suite('appending to a lane', () => {
  test('stores every group before it ensures the ticket', async () => {
    const { appender, steps } = openBench();
    assert.equal(await appender.append(PLACE, [...groupsOf(['1']), ...groupsOf(['2', '3'])], WANTED), 'stored');
    assert.deepEqual(steps, ['write [1]', 'write [2,3]', 'ensure dst_1 1000']);
  });

  test('ensures no ticket for its holder, nor for nothing', async () => {
    const { appender, steps } = openBench();
    assert.equal(await appender.append(PLACE, groupsOf(['1'])), 'stored');
    assert.equal(await appender.append(PLACE, [], WANTED), 'stored');
    assert.deepEqual(steps, ['write [1] by holder']);
  });

  test('is not stored without a ticket, and stops at the first group that is not stored', async () => {
    const noTicket = openBench({ ensure: ['unavailable'] });
    assert.equal(await noTicket.appender.append(PLACE, groupsOf(['1']), WANTED), 'unavailable');
    const noRoom = openBench({ write: ['stored', 'full'] });
    const groups = ['1', '2', '3'].flatMap((text) => groupsOf([text]));
    assert.equal(await noRoom.appender.append(PLACE, groups, WANTED), 'full');
    assert.deepEqual(noRoom.steps, ['write [1]', 'write [2]']);
  });

  test('repeats a group that got no answer under its own id, so that NATS stores it once', async () => {
    const tried: string[] = [];
    const appender = openLaneAppender({
      async write(_place, { id }) {
        tried.push(id);
        return tried.length % 3 === 0 ? 'stored' : 'unavailable';
      },
      tickets: { ensure: async () => 'made' },
      retry: whenStored,
    });
    assert.equal(await appender.append(PLACE, [...groupsOf(['1']), ...groupsOf(['2'])], WANTED), 'stored');
    assert.equal(tried.length, 6);
    assert.deepEqual([new Set(tried.slice(0, 3)).size, new Set(tried.slice(3)).size, new Set(tried).size], [1, 1, 2]);
  });

  test('looks again at a ticket that was held, until it is not', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { appender, steps } = openBench({ ensure: ['held', 'held', 'held', 'there'] });
    await appender.append(PLACE, groupsOf(['1']), WANTED);
    await appender.append(PLACE, groupsOf(['2']), WANTED);
    for (let look = 0; look < 4; look += 1) {
      t.mock.timers.tick(3_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(steps.filter((step) => step.startsWith('ensure')).length, 4, 'one look for both, and one more');
    appender[Symbol.dispose]();
  });

  test('looks again for the time that is wanted then, and survives a look that fails', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { appender, steps } = openBench({ ensure: ['held', new Error('the connection is closed')] });
    let dueAt = 1_000;
    await appender.append(PLACE, groupsOf(['1']), () => ({ dueAt, hurry: true }));
    dueAt = 4_000;
    t.mock.timers.tick(3_000);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(steps.slice(1), ['ensure dst_1 1000', 'ensure dst_1 4000']);
    appender[Symbol.dispose]();
  });
});

test('a group holds at most 100 deliveries and 64 KiB', () => {
  const small = Array.from({ length: 250 }, () => '{}');
  assert.deepEqual(
    groupsOf(small).map(({ texts }) => texts.length),
    [100, 100, 50],
  );
  const large = 'ä'.repeat(15_000);
  assert.deepEqual(
    groupsOf([large, large, large]).map(({ bytes }) => bytes),
    [60_000, 30_000],
  );
  assert.equal(groupsOf(['x'.repeat(100_000)]).length, 1, 'one that is larger has a group of its own');
});
