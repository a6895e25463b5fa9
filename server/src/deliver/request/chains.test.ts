import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Answer } from '../client/post.ts';
import type { PendingAttempt } from '../dispatch/line.ts';
import type { Settled, Settlement } from '../settle/settle.ts';
import type { Delivery } from '../../domain/delivery.ts';
import type { OutcomeEntry } from '../../domain/outcome.ts';
import { aDelivery, answersOf, aWebhook, EVENT, status } from '../../../testing/samples.ts';
import { openChains } from './chains.ts';

/** Ids are a user and a place in the request. The attempts end when the test says so. */
function openPlay(settledAs: (id: string) => Settled = () => 'retry') {
  const offered: PendingAttempt[] = [];
  const settled: string[] = [];
  const recorded: OutcomeEntry[] = [];
  const ended: string[] = [];
  const toCome = new Set<string>();
  const markOf = (all: readonly Delivery[]) => (all.at(-1)?.hasMore === true ? ' ...' : '');
  const follow: Settlement['follow'] = async (first, _, before, behind) => {
    const all = [first, ...behind];
    settled.push(`behind ${before.id}: ${all.map(({ id }) => id).join(' ')}${markOf(all)}`);
    return 'untried';
  };
  const settle: Settlement['settle'] = async (first, _, made, behind = []) => {
    const { id } = first;
    const isGood = made?.answers.every(({ answer }) => answer.kind === 'status' && answer.status === 200) === true;
    const left = isGood ? [] : behind;
    settled.push([id, ...left.map((each) => each.id)].join(' ') + markOf([first, ...left]));
    return isGood ? 'delivered' : settledAs(id);
  };
  const chains = openChains({
    dispatcher: { offer: (pending) => void offered.push(pending) },
    settle,
    follow,
    isMoreToCome: (event) => event.type !== 'delete' && toCome.has(event.userId ?? ''),
    record: async (entry) => void recorded.push(entry),
    now: () => 5,
    soon: (work) => work(),
  });
  return {
    settled,
    toCome,
    recorded,
    ended,
    close: chains.close,
    ids: () => offered.map(({ delivery }) => delivery.id),
    add(...ids: string[]) {
      for (const id of ids) {
        const event = { ...EVENT, userId: id.slice(0, 1) };
        const delivery = aDelivery({ id, event, order: `1-00-1-000${id.slice(1)}` });
        chains.add({ delivery, webhook: aWebhook({ order: 'user' }), isLate: false, end: () => void ended.push(id) });
      }
    },
    late(id: string) {
      const delivery = aDelivery({
        id,
        event: { ...EVENT, userId: id.slice(0, 1) },
        order: `1-00-1-000${id.slice(1)}`,
      });
      chains.add({ delivery, webhook: aWebhook({ order: 'user' }), isLate: true, end: () => void ended.push(id) });
    },
    async answer(id: string, answer: Answer | undefined = status(200)) {
      const index = offered.findIndex(({ delivery }) => delivery.id === id);
      offered.splice(index, 1)[0]?.finish({ startedAt: 0, answers: answersOf(answer) });
      await nextTurn();
    },
    async handBack(id: string) {
      const index = offered.findIndex(({ delivery }) => delivery.id === id);
      offered.splice(index, 1)[0]?.finish(undefined);
      await nextTurn();
    },
  };
}

suite('the chains of a request', () => {
  test('have one link of each user under way, and the next one after a good answer', async () => {
    const play = openPlay();
    play.add('a0', 'b1', 'a2', 'a3', 'b4');
    play.close();
    assert.deepEqual(play.ids(), ['a0', 'b1']);
    await play.answer('a0');
    assert.deepEqual(play.ids(), ['b1', 'a2']);
    await play.answer('b1');
    await play.answer('a2');
    await play.answer('b4');
    await play.answer('a3');
    assert.deepEqual(play.ended, ['a0', 'b1', 'a2', 'b4', 'a3']);
    assert.deepEqual(play.recorded, []);
  });

  test('go to the lane whole when a link fails, each ends once, and the record knows that those behind wait', async () => {
    const play = openPlay();
    play.add('a0', 'b1', 'a2', 'a3');
    play.close();
    await play.answer('a0');
    await play.answer('a2', status(503));
    assert.deepEqual(play.settled, ['a0', 'a2 a3']);
    assert.deepEqual(play.ended, ['a0', 'a2', 'a3']);
    assert.deepEqual(
      play.recorded.map(({ deliveryId, kind }) => `${deliveryId} ${kind}`),
      ['a3 waiting'],
    );
    await play.answer('b1');
    assert.deepEqual(play.ended.at(-1), 'b1');
  });

  test('wait for the rest of the request before they go there', async () => {
    const play = openPlay();
    play.add('a0', 'a1');
    await play.handBack('a0');
    assert.deepEqual(play.settled, []);
    play.add('a2');
    play.late('a3');
    play.close();
    await nextTurn();
    assert.deepEqual(play.settled, ['a0 a1 a2 a3']);
    assert.equal(play.ended.length, 4);
  });

  test('stay cut when the rest of the request found no room: it goes to the lane behind them', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const play = openPlay();
    play.toCome.add('a');
    play.add('a0', 'a1', 'b2');
    await play.answer('a0', status(503));
    assert.deepEqual(play.settled, []);
    t.mock.timers.tick(3_000);
    await nextTurn();
    assert.deepEqual(play.settled, ['a0 a1 ...']);
    play.add('a3', 'a4');
    await nextTurn();
    play.toCome.delete('a');
    play.add('a5', 'b6');
    play.close();
    await nextTurn();
    assert.deepEqual(play.settled.slice(1), ['behind a0: a3 a4 ...', 'behind a0: a5']);
    assert.deepEqual(play.ids(), ['b2'], 'none of them was attempted, and other users are not cut');
    const waiting = play.recorded.map(({ deliveryId, kind }) => `${deliveryId} ${kind}`);
    assert.deepEqual(waiting, ['a1 waiting', 'a3 waiting', 'a4 waiting', 'a5 waiting']);
    assert.deepEqual(play.ended, ['a0', 'a1', 'a3', 'a4', 'a5']);
  });

  test('go on behind a link that is given up', async () => {
    const play = openPlay(() => 'discarded');
    play.add('a0', 'a1');
    play.close();
    await play.answer('a0', status(400));
    assert.deepEqual(play.ended, ['a0']);
    assert.deepEqual(play.ids(), ['a1']);
    await play.answer('a1');
    assert.deepEqual(play.ended, ['a0', 'a1']);
  });

  test('whose lane is full end whole, and are not said to wait', async () => {
    const play = openPlay(() => 'lane_full');
    play.add('a0', 'a1');
    play.close();
    await play.handBack('a0');
    assert.deepEqual(play.ended, ['a0', 'a1']);
    assert.deepEqual(play.recorded, []);
  });

  test('begin anew with a link that comes after the others ended', async () => {
    const play = openPlay();
    play.add('a0');
    await play.answer('a0');
    play.add('a1');
    assert.deepEqual(play.ids(), ['a1']);
  });
});
