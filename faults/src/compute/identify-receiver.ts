import type { ComputedValue } from '../../../server/src/compute/profiles/profile-store.ts';
import { openReceiver } from '../../../server/testing/receiver.ts';
import type { Random } from '../seeded-random.ts';
import type { Heard } from './judge-transitions.ts';

export type IdentifyReceiver = AsyncDisposable & {
  url: string;
  /** The calls that it answered 200. */
  heard: readonly Heard[];
};

type Identify = {
  userId: string;
  traits: Record<string, ComputedValue>;
  context: { personas: { computation_key: string; sequence: number } };
};

const FAILING = 0.02;

/** Answers one call in fifty with a 500. */
export async function openIdentifyReceiver(random: Random): Promise<IdentifyReceiver> {
  const heard: Heard[] = [];
  const receiver = await openReceiver(({ at, headers, body }, response) => {
    const isFailing = random.next() < FAILING;
    if (!isFailing) heard.push({ ...readIdentify(body), webhookId: String(headers['webhook-id']), at });
    response.writeHead(isFailing ? 500 : 200).end();
  });
  return { url: receiver.url, heard, [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose]() };
}

function readIdentify(body: string): Pick<Heard, 'pair' | 'sequence' | 'value'> {
  const { userId, traits, context } = JSON.parse(body) as Identify;
  const { computation_key: key, sequence } = context.personas;
  return { pair: `${userId} ${key}`, sequence, value: traits[key] ?? null };
}
