import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { LIMIT_NAMES, type LimitUse } from '@millrace/contract/control';
import type { ControlClient } from '../control-client.ts';
import { forkWithUs } from '../fork-with-us.ts';
import { waitUntil } from '../wait-until.ts';
import type { CallsSeen, GreedBegun, GreedOrder, GreedSeen } from './greed-process.ts';
import type { Tenants } from './open-tenants.ts';

const REACHED_WITHIN_MS = 60_000;

export type Greed = Disposable & {
  /** The refusals that it met. */
  codes: ReadonlySet<string>;
  stop(): Promise<Greedy>;
};

/** `statuses`: of its requests to the API. */
export type Greedy = { statuses: ReadonlyMap<number, number>; calls: CallsSeen };

/** Half of its receivers fail and half refuse; it sends too much, makes too much and asks too much. */
export async function startGreed({ scene, greedy, greedyToken, plans }: Tenants): Promise<Greed> {
  const [failing, refusing] = plans.greedy.sources.map(({ id }) =>
    plans.greedy.destinations.filter(({ sourceId }) => sourceId === id).map((destination) => destination.id),
  );
  await scene.receivers.behave(failing ?? [], { status: 500 });
  await scene.receivers.behave(refusing ?? [], { status: 400 });
  const { child, ...forked } = forkWithUs(join(import.meta.dirname, 'greed-process.ts'));
  // Its clients stand for machines of others: the server comes first on the processors of this one.
  setPriority(child.pid ?? 0, constants.priority.PRIORITY_LOW);
  const heard = once(child, 'message');
  child.send({
    collectUrl: scene.collect.url,
    sources: plans.greedy.sources,
    controlUrl: greedy.url,
    token: greedyToken,
  } satisfies GreedOrder);
  const [begun] = (await heard) as [GreedBegun];
  return {
    ...forked,
    codes: new Set(begun.codes),
    async stop() {
      const ended = once(child, 'message');
      child.send('stop');
      const [{ statuses, calls }] = (await ended) as [GreedSeen];
      return { statuses: new Map(statuses), calls };
    },
  };
}

/** The limits that the greedy workspace has not reached, as it is told itself; asked until all are, or patience ends. */
export async function allReached(client: ControlClient, { codes }: Greed): Promise<string[]> {
  let left: string[] = [...LIMIT_NAMES];
  const look = async () => {
    const { body } = await client.ask('GET', '/api/v1/workspace/limits');
    if (body.limits !== undefined) left = notReached(body.limits, codes);
    return left.length === 0;
  };
  await waitUntil('all limits are reached', REACHED_WITHIN_MS, look).catch(() => undefined);
  return left;
}

/** Rates swing around their limit, and others hold back what comes first: the refusals show those. */
function notReached(limits: readonly LimitUse[], codes: ReadonlySet<string>): string[] {
  const refused = new Set([...codes].map((code) => code.split(' ')[0] ?? ''));
  return limits
    .filter(({ name, state }) => {
      if (name === 'callsPerSecond' || name === 'apiRequestsPerSecond') return false;
      if (name === 'destinations' || name === 'targetHosts' || name === 'configBytes')
        return !refused.has('/api/v1/destinations');
      return state === 'below' || state === 'unknown';
    })
    .map(({ name, state, used }) => `${name} is ${state} with ${used}`);
}
