import type { Definition } from '@millrace/contract/control';
import { clockMs, type OtherTimes } from '../replay/watch-other.ts';
import { round } from '../spread.ts';
import type { Installation, Shop } from './installation.ts';
import { type Load, probe } from './probe-load.ts';
import type { Told } from './told.ts';
import { waitFor } from './wait-for.ts';

/** One for each load. */
const CREATED = {
  light: { key: 'created', event: 'Event 4' },
  full: { key: 'created_under_load', event: 'Event 5' },
};

export type Creation = {
  liveSeconds: number;
  toldSeconds: number;
  members: number;
  /**
   * Members of the end who were told once, more than once, and never; others who were told. A delivery that came again with its
   * webhook-id counts once, and in `resent`.
   */
  once: number;
  repeated: number;
  resent: number;
  missing: number;
  strangers: number;
  during: OtherTimes;
};

export type CreationNeeds = { told: Told; users: number; load: Load; destinationId: string };

/** An audience is made while events come in: the time until it is live, and who is told. */
export async function measureCreation(stack: Installation, shop: Shop, needs: CreationNeeds): Promise<Creation> {
  const { told, users, load, destinationId } = needs;
  const { key, event } = CREATED[load];
  const span = { from: 0, to: 0 };
  let liveMs = 0;
  const work = async () => {
    span.from = clockMs();
    const when = { event, window: '30d', atLeast: 1 };
    const asked = { name: key, kind: 'audience', destinations: [destinationId], when };
    const { id } = await stack.get<Definition>('POST', '/definitions', asked);
    const now = () => stack.get<Definition>('GET', `/definitions/${id}`);
    await waitFor(async () => (await now()).state === 'live');
    liveMs = clockMs() - span.from;
    await waitFor(async () => (await now()).firstSyncWaiting === 0);
    span.to = clockMs();
  };
  const times = await probe(stack, shop, { told, users, load, work });
  const seconds = { liveSeconds: round(liveMs / 1_000), toldSeconds: round((span.to - span.from) / 1_000) };
  return { ...seconds, ...countTold(told, key, await membersNow(stack, key)), during: times.timesIn([span]) };
}

function countTold({ arrivals }: Told, key: string, members: ReadonlySet<string>) {
  const end = ` ${key} true`;
  const own = arrivals.filter(([what]) => what.endsWith(end));
  const transitions = new Map(own.map(([what, , id]) => [id, what.slice(0, -end.length)]));
  const times = new Map<string, number>();
  for (const user of transitions.values()) times.set(user, (times.get(user) ?? 0) + 1);
  return {
    members: members.size,
    once: [...members].filter((id) => times.get(id) === 1).length,
    repeated: [...times.values()].filter((count) => count > 1).length,
    resent: own.length - transitions.size,
    missing: [...members].filter((id) => !times.has(id)).length,
    strangers: [...times.keys()].filter((id) => !members.has(id)).length,
  };
}

async function membersNow({ store }: Installation, key: string): Promise<Set<string>> {
  const sql = `SELECT p.id FROM memberships m JOIN profiles p USING (profile_key)
    WHERE m.definition = (SELECT number FROM definitions WHERE key = $1)`;
  return new Set((await store.asSystem((tx) => tx.query<{ id: string }>(sql, [key]))).map(({ id }) => id));
}
