/** The stream is trimmed, restored or made anew while the lifecycle reads the past of a definition: each test does it at that very moment. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, suite, test } from 'node:test';
import type { Definition } from '@millrace/contract/audiences';
import { type NatsLives, openNatsLives, STREAM } from '../../../testing/compute/nats-lives.ts';

const order = (userId: string, total: number, more: object = {}) => ({
  type: 'track',
  event: 'Order',
  userId,
  messageId: `m-${(made += 1)}`,
  properties: { total, ...more },
});
let made = 0;

/** Its past is in the stored events. */
const SPENT: Definition = {
  kind: 'trait',
  name: 'Spent',
  compute: 'sum',
  event: 'Order',
  field: 'properties.total',
  settleSeconds: 0,
};
/** Its past is in the tiles of the profiles. */
const ORDERS: Definition = { kind: 'trait', name: 'Orders', compute: 'count', event: 'Order', settleSeconds: 0 };

suite('the past of a definition', () => {
  let lives: NatsLives;
  beforeEach(async () => {
    lives = await openNatsLives();
  });
  afterEach(() => lives[Symbol.asyncDispose]());

  const create = (definition: Definition) =>
    lives.create({ key: definition.name.toLowerCase(), destinations: [], definition });

  /** The first time that `isNow` holds before a step. */
  function beforeStep(isNow: () => Promise<boolean>, work: () => Promise<void>): void {
    lives.hooks.beforeStep = async () => {
      if (!(await isNow())) return;
      delete lives.hooks.beforeStep;
      await work();
    };
  }

  function afterFirstBatch(work: () => Promise<void>): void {
    lives.hooks.batchRead = async () => {
      delete lives.hooks.batchRead;
      await work();
    };
  }

  const isBackfilled = async () =>
    (await lives.sql(`SELECT 1 AS one FROM definition_versions WHERE phase = 'events'`)).length > 0;

  /** Requests that are large enough: the reader of the past holds a few of them in memory, and not all. */
  async function sendMany(): Promise<string[]> {
    const bulk = 'x'.repeat(30_000);
    const names = Array.from({ length: 60 }, (_, nth) => `u${nth + 1}`);
    for (const name of names) {
      const others = Array.from({ length: 12 }, (_, nth) => order(`other-${nth}`, 0, { bulk }));
      await lives.send([order(name, 5), ...others]);
    }
    return names;
  }

  /** Trimming goes on until few are left; resolves with the time of the last request that went. */
  async function trim(): Promise<number> {
    const last = await lives.storedAt(55);
    await lives.manager.streams.purge(STREAM, { seq: 56 });
    return last;
  }

  async function isTold(id: string, names: readonly string[], trimmedAt: number): Promise<void> {
    const { values, completeFrom } = await lives.found(id);
    const missing = names.filter((name) => !(name in values));
    assert.ok(missing.length > 0 && missing.length < 55, `some were trimmed before they were read: ${missing.length}`);
    assert.ok(missing.every((name) => Number(name.slice(1)) <= 55));
    assert.ok((completeFrom ?? 0) > trimmedAt, 'the definition is not complete before the last one that went');
  }

  test('says from when it is complete when profiles are begun and trimming overtakes the read', async () => {
    const names = await sendMany();
    const id = await create(ORDERS);
    let trimmedAt = 0;
    afterFirstBatch(async () => void (trimmedAt = await trim()));
    await lives.runJobs();
    await isTold(id, names, trimmedAt);
  });

  test('says from when it is complete when measures are begun and trimming overtakes the read', async () => {
    const names = await sendMany();
    await create(ORDERS);
    await lives.runJobs();
    const id = await create(SPENT);
    let trimmedAt = 0;
    beforeStep(isBackfilled, () => Promise.resolve(afterFirstBatch(async () => void (trimmedAt = await trim()))));
    await lives.runJobs();
    await isTold(id, names, trimmedAt);
  });

  test('ends, and says what is missing, when the stream is made anew with nothing in it', async () => {
    await lives.send([order('u1', 5)]);
    const last = await lives.send([order('u2', 7)]);
    const storedAt = await lives.storedAt(last);
    await create(ORDERS);
    await lives.runJobs();
    const id = await create(SPENT);
    beforeStep(isBackfilled, async () => {
      await lives.remake();
      await lives.send([order('u2', 1)]);
    });
    await lives.runJobs();
    await lives.allRead();
    assert.deepEqual(await lives.found(id), { values: { u2: 1 }, completeFrom: storedAt });
  });

  test('is whole, and counted once, when the stream is restored with everything that it held', async () => {
    await lives.send([order('u1', 5)]);
    await lives.send([order('u2', 7)]);
    await create(ORDERS);
    await lives.runJobs();
    const id = await create(SPENT);
    beforeStep(isBackfilled, async () => {
      const restore = await lives.backup();
      await restore();
      await lives.send([order('u2', 1)]);
    });
    await lives.runJobs();
    await lives.allRead();
    assert.deepEqual(await lives.found(id), { values: { u1: 5, u2: 8 }, completeFrom: null });
  });

  test('counts no new event twice when a stream is restored from an older backup and gives sequences again', async () => {
    await lives.send([order('u1', 5)]);
    const restore = await lives.backup();
    const last = await lives.send([order('u2', 7)]);
    const storedAt = await lives.storedAt(last);
    await create(ORDERS);
    await lives.runJobs();
    const id = await create(SPENT);
    beforeStep(isBackfilled, async () => {
      await restore();
      assert.equal(await lives.send([order('u3', 1)]), last, 'it is where the lost one was');
      await lives.allRead();
    });
    await lives.runJobs();
    await lives.allRead();
    assert.deepEqual(await lives.found(id), { values: { u1: 5, u3: 1 }, completeFrom: storedAt });
  });

  /** Two batches, because a batch is closed by a thousand events. */
  async function sendTwoBatches(): Promise<number> {
    let last = 0;
    for (let nth = 0; nth < 3; nth += 1)
      last = await lives.send(Array.from({ length: 600 }, (_, user) => order(`u${user}`, 1)));
    return last;
  }

  test('goes on where the profiles are begun when the stream is restored in the middle of the read', async () => {
    await sendTwoBatches();
    const id = await create(ORDERS);
    afterFirstBatch(async () => {
      const restore = await lives.backup();
      await restore();
    });
    await lives.runJobs();
    await lives.allRead();
    const { values, completeFrom } = await lives.found(id);
    assert.deepEqual([new Set(Object.values(values)), completeFrom], [new Set([3]), null]);
  });

  test('ends where the profiles are begun when the stream is made anew in the middle of the read', async () => {
    const names = await sendMany();
    const storedAt = await lives.storedAt(names.length);
    const id = await create(ORDERS);
    afterFirstBatch(async () => {
      await lives.remake();
      await lives.send([order('u1', 5), order('late', 5)]);
    });
    await lives.runJobs();
    await lives.allRead();
    const { values, completeFrom } = await lives.found(id);
    assert.equal(completeFrom, storedAt);
    assert.deepEqual([values['u1'], values['u2'], values['u60'], values['late']], [2, 1, undefined, 1]);
  });
});
