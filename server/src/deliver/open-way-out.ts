import type { AskAnswer, Question } from '../domain/ask.ts';
import type { Networks } from '../http/address-policy.ts';
import type { Logger } from '../log.ts';
import { type KeyRing, openKeyRing } from '../secrets/seal.ts';
import type { DeliverConfig } from '../stream/config/config-bucket.ts';
import type { Answering } from '../stream/signals/asks.ts';
import { answerQuestion } from './ask/answer-question.ts';
import type { RetrySchedule } from './attempt/retry-schedule.ts';
import { openWebhooks } from './attempt/webhook.ts';
import { type Client, openClient } from './client/open-client.ts';

export type OnAsk = (answer: (question: Question) => Promise<AskAnswer>) => Answering;
/** `asks`: the questions of control. */
type WayOut = { client: Client; asks: Pick<Answering, 'stop' | 'underWay'> };

type WayOutNeeds = {
  networks: Networks;
  keys: ReadonlyMap<number, Buffer>;
  config: DeliverConfig;
  schedule: RetrySchedule;
  onAsk?: OnAsk;
  /** In place of the network: the simulator has its own receivers. */
  client?: Client;
  now(): number;
  log: Logger;
};

/** The client of the deliveries. Tests and checks that control asks for go out by it too, and pass no lane. */
export function openWayOut(needs: WayOutNeeds, stack: AsyncDisposableStack): WayOut {
  const { networks, keys, config, schedule, onAsk, now, log } = needs;
  const client = stack.use(needs.client ?? openClient({ networks }));
  const webhookOf = openWebhooks({ keyRing: keyRingOf(keys), log });
  const asked = { config, webhookOf, client, schedule, now };
  if (onAsk === undefined) return { client, asks: { stop: () => undefined, underWay: () => 0 } };
  return { client, asks: stack.use(onAsk((question) => answerQuestion(question, asked))) };
}

export function keyRingOf(keys: ReadonlyMap<number, Buffer>): KeyRing | undefined {
  return keys.size === 0 ? undefined : openKeyRing(keys);
}
