/** Explain tells of replays, redrives, erased and suppressed users: with every role and both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Explanation } from '@millrace/contract/control';
import { answer, openReceiver } from '../testing/receiver.ts';
import { addScene, ended, type Job, openStack, type Scene, type Stack, suppressionHeard } from '../testing/stack.ts';
import { until } from '../testing/until.ts';
import { track } from '../testing/samples.ts';

type Told = Explanation['destinations'][number];
type Receiver = Awaited<ReturnType<typeof openReceiver>>;

let stack: Stack;
const mood = { status: 200 };
let receiver: Receiver;
let scene: Scene;
let tokenId: string;
before(async () => {
  stack = await openStack();
  receiver = await openReceiver((one, response) => answer(mood.status)(one, response));
  scene = await addScene(stack, receiver.url);
  const { items } = await stack.get<{ items: { id: string }[] }>('GET', '/tokens');
  tokenId = items[0]?.id ?? '';
});
after(async () => {
  await receiver[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const explain = (messageId: string) => stack.get<Explanation>('GET', `/events/${messageId}/explain`);

async function toldOf(messageId: string, isTrue: (told: Told) => boolean): Promise<Told> {
  let last: Explanation | undefined;
  await until(async () => {
    last = await explain(messageId);
    return last.destinations.some(isTrue);
  }).catch(() => assert.fail(JSON.stringify(last, null, 1)));
  return last?.destinations.find(isTrue) ?? assert.fail();
}

suite('explain tells of an event that was sent again', () => {
  test('by a replay: which one, who started it and when, and that it had been delivered before', async () => {
    await stack.send(scene.writeKey, [track('twice')]);
    await toldOf('m-twice', ({ state }) => state === 'delivered');
    const range = { from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
    const asked = { sourceId: scene.sourceId, destinationId: scene.destinationId, ...range };
    const { id } = await stack.get<Job>('POST', '/replays', asked);
    await ended(stack, `/replays/${id}`);
    // A delivery and its history are read one after the other, and the record may come in between.
    const told = await toldOf('m-twice', ({ history, replayId }) => history.length === 2 && replayId !== null);
    assert.deepEqual(
      told.history.map(({ attempt, outcome, replayId }) => [attempt, outcome, replayId]),
      [
        [1, 'delivered', null],
        [1, 'delivered', id],
      ],
    );
    assert.equal(told.replayId, id);
    const [replay] = told.replays;
    assert.deepEqual([replay?.id, replay?.kind, replay?.startedBy], [id, 'replay', { kind: 'token', id: tokenId }]);
    const [first, replayed, second, end] = told.story;
    assert.match(first ?? '', /^Attempt 1 at .* answered 200/);
    assert.equal(replayed, `Replayed: ${id}, started at ${replay?.startedAt} by token ${tokenId}.`);
    assert.match(second ?? '', /^Attempt 1 at .* answered 200/);
    assert.equal(end, `Delivered at ${told.firstAttemptAt}.`, 'the first time counts, and it took one attempt');
    const { replayId } = await stack.get<Told>('GET', `/deliveries/${told.id}`);
    assert.equal(replayId, id);
  });

  test('by a retry of its dead letter, alone or with others', async () => {
    mood.status = 400;
    await stack.send(scene.writeKey, [track('alone'), track('together')]);
    for (const name of ['alone', 'together']) await toldOf(`m-${name}`, ({ state }) => state === 'discarded');
    await until(async () => (await stack.deadLetterCount(scene.destinationId)) === 2);
    mood.status = 200;
    type Letters = { items: { id: string; messageId: string }[] };
    const { items } = await stack.get<Letters>('GET', `/dead-letters?destinationId=${scene.destinationId}`);
    const letter = items.find(({ messageId }) => messageId === 'm-alone');
    const { replayId } = await stack.get<{ replayId: string }>('POST', `/dead-letters/${letter?.id}/retry`);
    const alone = await toldOf('m-alone', ({ state }) => state === 'delivered');
    assert.deepEqual([alone.replayId, alone.history.at(-1)?.replayId], [replayId, replayId]);
    assert.match(alone.story.join('\n'), /answered 400.*\nTaken out of the dead letters to be sent again: rdr_/);
    const startedAt = Date.parse(alone.replays[0]?.startedAt ?? '');
    assert.ok(Math.abs(Date.now() - startedAt) < 60_000, 'the id itself says when');
    const { id } = await stack.get<Job>('POST', '/dead-letters/redrive', { destinationId: scene.destinationId });
    const together = await toldOf('m-together', ({ state }) => state === 'delivered');
    assert.deepEqual(together.replays[0]?.startedBy, { kind: 'token', id: tokenId });
    assert.equal(together.replayId, id);
    assert.match(together.story.at(-1) ?? '', /^Delivered at [^,]*\.$/);
  });
});

suite('explain tells of an event whose user', () => {
  test('was erased: that it was, how it had ended, and nothing of whose it was', { timeout: 60_000 }, async () => {
    const userId = 'somebody-to-be-erased';
    await stack.send(scene.writeKey, [track('before', { userId, anonymousId: 'their-browser' })]);
    await toldOf('m-before', ({ state }) => state === 'delivered');
    const { id } = await stack.get<Job>('POST', '/deletion-requests', { userIds: [userId], sources: [scene.sourceId] });
    await ended(stack, `/deletion-requests/${id}`, 40_000);
    const told = await explain('m-before');
    assert.equal(told.verdict, 'accepted');
    const [one] = told.destinations;
    assert.deepEqual([one?.isErased, one?.state, one?.userId], [true, 'delivered', null]);
    assert.deepEqual(one?.history[0]?.answers, []);
    assert.match(
      one?.story.join('\n') ?? '',
      /^Attempt 1 at .*: its answers are erased\.\nDelivered at .*\.\nIts user was erased since: whose it was/,
    );
    assert.ok(!/somebody-to-be|their-browser/.test(JSON.stringify(told)));
  });

  test('is suppressed: dropped by deliver as such, or never stored, of which only the count is kept', async () => {
    const userId = 'somebody-suppressed';
    const body = { userIds: [userId], sources: [scene.sourceId], suppress: true };
    await stack.get('POST', '/deletion-requests', body);
    await suppressionHeard(stack, scene.sourceId, userId);
    // As a collect process would store it that has not heard of the suppression yet.
    await stack.append(scene.sourceId, track('slipped in', { userId, messageId: 'slipped-in' }));
    const told = await toldOf('slipped-in', ({ state }) => state === 'skipped');
    assert.deepEqual([told.reason, told.userId, told.name], ['suppressed', null, null]);
    assert.match(told.story.join(), /^Not sent: the user has asked to be forgotten, and their calls are dropped\.$/);
    assert.equal(await stack.send(scene.writeKey, [track('dropped', { userId })]), 200);
    const unknown = await explain('m-dropped');
    assert.equal(unknown.verdict, 'unknown');
    assert.match(unknown.story.join(), /its user may be suppressed, and of such calls only the count is kept/);
  });
});
