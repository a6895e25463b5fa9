import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type NatsCluster, startNatsCluster } from '@millrace/engines';
import type { AskAnswer, Question } from '../../domain/ask.ts';
import { openLog } from '../../log.ts';
import { openEntrySigner } from '../../secrets/sign-entry.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';
import { until } from '../../../testing/until.ts';
import { inboxPrefix, type NatsRole } from '../layout/permissions.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { openStream, type Stream } from '../open-stream.ts';
import { answerAsks, MAX_ANSWER_BYTES, MAX_ASKS, openAsks } from './asks.ts';

const log = openLog({ level: 'silent', pretty: false });
const SIGNER = openEntrySigner(new Map([[1, Buffer.alloc(32, 1)]]));
const STRANGER = openEntrySigner(new Map([[1, Buffer.alloc(32, 2)]]));
const QUESTION: Question = { kind: 'check_url', url: 'https://example.com/' };
const answerOf = (sentence: string): AskAnswer => ({ kind: 'url_checked', check: { ok: true, steps: [], sentence } });

let cluster: NatsCluster;
const opened = new AsyncDisposableStack();
before(async () => {
  cluster = opened.use(await startNatsCluster());
  opened.use(await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log }));
});
after(() => opened.disposeAsync());

const urlOf = (role: NatsRole) => cluster.url.replace('nats://', `nats://${role}:${role}@`);
const openAs = (role: NatsRole): Promise<Stream> =>
  openStream({ natsUrl: urlOf(role), roles: [role], settings: STREAM_SETTINGS, log });
const connectAs = (role: NatsRole) => connectNats({ url: urlOf(role), inbox: inboxPrefix(role), name: 'test', log });

suite('a question of control, each role with its own NATS user', () => {
  test('is answered by one of the deliver processes', async () => {
    await using control = await openAs('control');
    await using first = await openAs('deliver');
    await using second = await openAs('deliver');
    const took: Question[] = [];
    const take = async (question: Question) => {
      took.push(question);
      return answerOf('done');
    };
    using answering = new DisposableStack();
    for (const deliver of [first, second]) answering.use(deliver.onAsk(SIGNER, take));
    using asks = control.asks(SIGNER);
    await until(async () => (await asks.ask(QUESTION)).kind === 'answered');
    took.length = 0;
    const answers = await Promise.all(Array.from({ length: 20 }, () => asks.ask(QUESTION)));
    for (const answer of answers) assert.deepEqual(answer, { kind: 'answered', answer: answerOf('done') });
    assert.equal(took.length, 20);
  });

  test('that is under way is answered by a process that stops, until it lets go', async () => {
    await using control = await openAs('control');
    await using deliver = await openAs('deliver');
    using asks = control.asks(SIGNER);
    const held: PromiseWithResolvers<AskAnswer>[] = [];
    let isHeld = false;
    using answering = deliver.onAsk(SIGNER, () => {
      if (!isHeld) return Promise.resolve(answerOf('done'));
      const one = Promise.withResolvers<AskAnswer>();
      held.push(one);
      return one.promise;
    });
    await until(async () => (await asks.ask(QUESTION)).kind === 'answered');
    isHeld = true;
    const [first, second] = [asks.ask(QUESTION), asks.ask(QUESTION, 2_000)];
    await until(() => answering.underWay() === 2);
    answering.stop();
    await until(async () => (await asks.ask(QUESTION, 500)).kind === 'nobody');
    held[0]?.resolve(answerOf('done'));
    assert.deepEqual(await first, { kind: 'answered', answer: answerOf('done') });
    answering[Symbol.dispose]();
    held[1]?.resolve(answerOf('broken off by the end of the process'));
    assert.deepEqual(await second, { kind: 'late' });
  });

  test('comes back at once when no deliver process is there', async () => {
    await using control = await openAs('control');
    using asks = control.asks(SIGNER);
    const startedAt = performance.now();
    assert.deepEqual(await asks.ask(QUESTION), { kind: 'nobody' });
    assert.ok(performance.now() - startedAt < 2_000);
  });

  test('is not waited for longer than asked, and a late answer is dropped', async () => {
    await using control = await openAs('control');
    await using deliver = await openAs('deliver');
    const held = Promise.withResolvers<AskAnswer>();
    using _ = deliver.onAsk(SIGNER, () => held.promise);
    using asks = control.asks(SIGNER);
    await until(async () => (await asks.ask(QUESTION, 50)).kind === 'late');
    held.resolve(answerOf('late'));
    await until(async () => (await asks.ask(QUESTION)).kind === 'answered');
  });

  test(`is refused by a process that has ${MAX_ASKS} under way`, async () => {
    await using control = await openAs('control');
    await using deliver = await openAs('deliver');
    const held = Promise.withResolvers<AskAnswer>();
    let underWay = 0;
    using _ = deliver.onAsk(SIGNER, () => {
      underWay += 1;
      return held.promise;
    });
    using asks = control.asks(SIGNER);
    await until(async () => (await asks.ask(QUESTION, 50)).kind === 'late');
    const asked = Array.from({ length: MAX_ASKS + 10 }, () => asks.ask(QUESTION));
    await until(() => underWay === MAX_ASKS);
    held.resolve(answerOf('done'));
    const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
    const busy = kinds.filter((kind) => kind === 'busy').length;
    assert.equal(busy, kinds.length - kinds.filter((kind) => kind === 'answered').length);
    assert.ok(busy >= 10, `${busy} were refused`);
    assert.equal((await asks.ask(QUESTION)).kind, 'answered', 'there is room again');
  });

  test('gets no answer that is too large, nor one of a handler that failed', async () => {
    await using control = await openAs('control');
    await using deliver = await openAs('deliver');
    using _ = deliver.onAsk(SIGNER, (question) => {
      if (question.kind === 'test') throw new Error('a fault of ours');
      return Promise.resolve(answerOf('x'.repeat(MAX_ANSWER_BYTES)));
    });
    using asks = control.asks(SIGNER);
    await until(async () => (await asks.ask(QUESTION)).kind === 'answered');
    const asked = await asks.ask(QUESTION);
    assert.equal(asked.kind === 'answered' && asked.answer.kind, 'not_applied');
    const test = { kind: 'test', workspaceId: 'w', destinationId: 'd', updatedAt: '', targetIndex: 0 } as const;
    const event = { type: 'delete', messageId: 'm', userId: 'u', receivedAt: '', timestamp: '' } as const;
    assert.deepEqual(await asks.ask({ ...test, event }), { kind: 'late' });
  });
});

suite('deliver answers no question', () => {
  test('that control did not sign, that is old, or that is none', async () => {
    await using control = await connectAs('control');
    await using connection = await connectAs('deliver');
    let taken = 0;
    const isAuthentic = (text: string) => SIGNER.check({ key: 'ask', text, isDeletion: false }) === 'authentic';
    const answer = async () => {
      taken += 1;
      return answerOf('done');
    };
    const now = () => Date.now();
    using _ = answerAsks({ connection, isAuthentic, now, log, answer });
    const sign = (text: string) => SIGNER.sign('ask', text);
    const signs: [what: string, sign: (text: string) => string, now: () => number][] = [
      ['not signed', (text) => text, now],
      ['signed with another ring', (text) => STRANGER.sign('ask', text), now],
      ['a signed config entry', (text) => SIGNER.sign('destination.dst_1', text), now],
      ['changed on its way', (text) => sign(text).replace('example.com', 'example.net'), now],
      ['recorded a minute ago', sign, () => Date.now() - 60_000],
    ];
    using good = openAsks({ connection: control, sign, now });
    await until(async () => (await good.ask(QUESTION)).kind === 'answered');
    taken = 0;
    for (const [what, bad, at] of signs) {
      using asks = openAsks({ connection: control, sign: bad, now: at });
      assert.deepEqual(await asks.ask(QUESTION, 200), { kind: 'late' }, what);
    }
    const token = 'A'.repeat(22);
    const odd = [
      '',
      'null',
      '[]',
      '{}',
      '{"to":1}',
      JSON.stringify({ to: 'lanes.0.x.0', at: Date.now(), question: QUESTION }),
    ];
    odd.push(JSON.stringify({ to: token, at: Date.now(), question: { kind: 'newer' } }));
    for (const text of odd) control.nc.publish('deliver.ask', text.endsWith('}') ? sign(text) : text);
    await until(async () => (await good.ask(QUESTION)).kind === 'answered');
    assert.equal(taken, 1, 'only the good one was taken');
  });

  test('to the subject that a message names for replies', async () => {
    await using control = await connectAs('control');
    await using connection = await connectAs('deliver');
    const answers: string[] = [];
    control.nc.subscribe('seen', { callback: (_, message) => void answers.push(message.string()) });
    const heard = control.nc.subscribe('deliver.answer.*');
    using _ = answerAsks({
      connection,
      isAuthentic: () => true,
      now: Date.now,
      log,
      answer: async () => answerOf('x'),
    });
    await connection.nc.flush();
    const text = JSON.stringify({ to: 'A'.repeat(22), at: Date.now(), question: QUESTION });
    control.nc.publish('deliver.ask', text, { reply: 'seen' });
    for await (const message of heard) {
      assert.equal(message.subject, `deliver.answer.${'A'.repeat(22)}`);
      break;
    }
    await control.nc.flush();
    assert.deepEqual(answers, []);
  });
});
