import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Settled } from '../settle/settle.ts';
import { aDelivery, answersOf, aWebhook, status } from '../../../testing/samples.ts';
import { type ChainNeeds, runChain } from './run-chain.ts';
import type { Taken } from './tier-group.ts';

type Script = Partial<Omit<ChainNeeds, 'attempt'>> & {
  /** The answer to each; undefined hands it back. */
  answers?: Record<string, number | undefined>;
  settledAs?: Settled;
  unsent?: string;
};

/** Runs the chain of these ids, and tells what became of it. */
async function run(ids: readonly string[], { answers = {}, settledAs = 'retry', unsent, ...change }: Script = {}) {
  const attempted: string[] = [];
  const settled: string[] = [];
  const ends: string[] = [];
  const takenAt: number[] = [];
  const chain = ids.map((id): Taken => ({ delivery: aDelivery({ id }), done: () => undefined, keep: () => undefined }));
  await runChain(chain, aWebhook({ order: 'user' }), {
    finishUnsent: ({ id }) => (id === unsent ? Promise.resolve('expired') : undefined),
    async attempt(delivery) {
      attempted.push(delivery.id);
      takenAt.push(delivery.takenAt);
      const code = delivery.id in answers ? answers[delivery.id] : 200;
      return code === undefined ? undefined : { startedAt: 0, answers: answersOf(status(code)) };
    },
    async settle({ id }, _, made, behind = []) {
      const isGood = made?.answers.every(({ answer }) => answer.kind === 'status' && answer.status === 200) === true;
      settled.push([id, ...behind.map((each) => each.id)].join(' '));
      return isGood ? 'delivered' : settledAs;
    },
    end: ({ delivery }, end) => void ends.push(`${delivery.id} ${end ?? 'kept'}`),
    mayGoOn: () => true,
    isInTurn: false,
    now: () => 77,
    ...change,
  });
  return { attempted, settled, ends, takenAt };
}

suite('a chain from a lane', () => {
  test('is attempted in order, and each link has its window from its turn on', async () => {
    const { attempted, ends, takenAt } = await run(['a', 'b', 'c']);
    assert.deepEqual(attempted, ['a', 'b', 'c']);
    assert.deepEqual(ends, ['a delivered', 'b delivered', 'c delivered']);
    assert.deepEqual(takenAt, [0, 77, 77]);
  });

  test('goes to the next tier whole from the link that failed', async () => {
    const { settled, ends } = await run(['a', 'b', 'c', 'd'], { answers: { b: 503 } });
    assert.deepEqual(settled, ['a', 'b c d']);
    assert.deepEqual(ends.toSorted(), ['a delivered', 'b retry', 'c retry', 'd retry']);
  });

  test('goes on behind a link that was given up, refused or unsent', async () => {
    const refused = await run(['a', 'b'], { answers: { a: 400 }, settledAs: 'discarded' });
    assert.deepEqual(refused.ends, ['a discarded', 'b delivered']);
    const expired = await run(['a', 'b'], { unsent: 'a' });
    assert.deepEqual([expired.attempted, expired.ends], [['b'], ['a expired', 'b delivered']]);
  });

  test('stays in its group when its first link is handed back', async () => {
    const { settled, ends } = await run(['a', 'b'], { answers: { a: undefined } });
    assert.deepEqual([settled, ends], [[], ['a kept', 'b kept']]);
  });

  test('stays there from a later link that is handed back, or when the time is up: nothing is written', async () => {
    const ends = ['a delivered', 'b kept', 'c kept'];
    const back = await run(['a', 'b', 'c'], { answers: { b: undefined } });
    assert.deepEqual([back.attempted, back.settled, back.ends.toSorted()], [['a', 'b'], ['a'], ends]);
    const over = await run(['a', 'b', 'c'], { mayGoOn: () => false });
    assert.deepEqual([over.attempted, over.settled, over.ends.toSorted()], [['a'], ['a'], ends]);
  });

  test('has the window of its first link from now on when others were before it', async () => {
    assert.deepEqual((await run(['b', 'c'], { isInTurn: true })).takenAt, [77, 77]);
  });
});
