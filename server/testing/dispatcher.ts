import type { TestContext } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import type { Attempt } from '../src/deliver/attempt/attempt.ts';
import type { Answer } from '../src/deliver/client/post.ts';
import { type Dispatcher, type DispatcherNeeds, openDispatcher } from '../src/deliver/dispatch/dispatcher.ts';
import type { HostCap } from '../src/limits/limits.ts';
import type { PendingAttempt } from '../src/deliver/dispatch/line.ts';
import { answersOf, aDelivery, aWebhook, failure, status } from './samples.ts';
import type { Webhook } from '../src/deliver/attempt/webhook.ts';

export type Started = {
  id: string;
  destinationId: string;
  standing: string;
  end(answer?: Answer, rest?: Promise<unknown>): Promise<void>;
};

/** The observations of a play: attempts by their ids, and the dispatcher's calls back. */
function openStage() {
  return {
    /** `engineAt` is what the engine's clock shows when the monotonic one shows zero. */
    clock: { now: 1_000_000, engineAt: 0 },
    started: [] as Started[],
    running: [] as Started[],
    back: [] as string[],
    finished: [] as string[],
    learned: [] as string[],
    noted: new Set<string>(),
  };
}

type Stage = ReturnType<typeof openStage>;

type PlaySettings = { maxInFlight?: number; peers?: number; longMost?: number; worked?: string[]; hostCap?: HostCap };

/** A dispatcher whose attempts end when the test says so, and whose time goes on when the test says so. */
export function play(
  t: TestContext,
  { maxInFlight = 100, peers = 1, longMost = 100, worked = [] as string[], hostCap }: PlaySettings = {},
) {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const stage = openStage();
  const { clock, learned, noted } = stage;
  const dispatcher = openDispatcher({
    attempt: attemptOn(stage),
    peers: () => peers,
    learned: ({ destinationId, shut }) => learned.push(`${destinationId} ${shut?.why ?? 'opened'}`),
    worked: { isKnown: (id) => worked.includes(id), note: (id) => void noted.add(id) },
    window: { room: (underWay) => Math.max(0, longMost - underWay) },
    now: () => clock.engineAt + clock.now,
    uptimeMs: () => clock.now,
    maxInFlight,
    hostCap,
  });
  t.after(() => dispatcher[Symbol.dispose]());
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      clock.now += 50;
      t.mock.timers.tick(50);
    }
    await settled();
  };
  return { dispatcher, ...stage, ...offersTo(dispatcher, stage), pass };
}

function attemptOn({ clock, started, running }: Stage): DispatcherNeeds['attempt'] {
  return (batch, { destinationId }, standing) => {
    const { promise, resolve } = Promise.withResolvers<Attempt>();
    const one: Started = {
      id: batch.map(({ delivery }) => delivery.id).join(' '),
      destinationId,
      standing,
      async end(answer = status(200), rest) {
        running.splice(running.indexOf(one), 1);
        resolve({ startedAt: clock.now, answers: answersOf(answer), ...(rest === undefined ? {} : { rest }) });
        await settled();
      },
    };
    started.push(one);
    running.push(one);
    return promise;
  };
}

function offersTo(dispatcher: Dispatcher, { started, back, finished }: Stage) {
  const pending = (id: string, webhook: Partial<Webhook>): PendingAttempt => ({
    delivery: aDelivery({ id }),
    webhook: aWebhook(webhook),
    finish: (made) => void (made === undefined ? back : finished).push(id),
  });
  const answer = async (destinationId: string, ...ended: Parameters<Started['end']>) => {
    dispatcher.offerBacklog(pending('before', { destinationId }));
    await started.at(-1)?.end(...ended);
    started.splice(0);
    finished.splice(0);
  };
  return {
    offer: (id: string, webhook: Partial<Webhook> = {}) => dispatcher.offer(pending(id, webhook)),
    offerBacklog: (id: string, webhook: Partial<Webhook> = {}) => dispatcher.offerBacklog(pending(id, webhook)),
    offerLong: (id: string, destinationId: string) =>
      dispatcher.offerBacklog({ ...pending(id, { destinationId }), isLong: true }),
    probe: (id: string, webhook: Partial<Webhook> = {}) => dispatcher.probe(pending(id, webhook)),
    /** Good answers, each after the other: the receiver has shown that it works. */
    async prove(destinationId: string, times = 60): Promise<void> {
      for (let time = 0; time < times; time += 1) await answer(destinationId);
    },
    /** One timeout: the receiver has failed lately. */
    fail: (destinationId: string) => answer(destinationId, failure('timeout', 5_000)),
  };
}

export const names = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `d${from + index}`);
