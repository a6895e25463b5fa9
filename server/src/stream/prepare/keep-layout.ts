import type { JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from '../../log.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { isDenied } from '../nats/engine-errors.ts';
import { openLayoutBucket } from '../nats/lane-counts.ts';
import { handOver } from '../leaders/hand-over.ts';
import type { StreamSettings } from '../layout/layout.ts';
import { type Growth, growLayout, type Resized } from './grow-layout.ts';
import { openLeaderMoves } from './spread-leaders.ts';
import { every } from '../../pause.ts';

export type KeepNeeds = {
  connection: Connection;
  manager: JetStreamManager;
  settings: StreamSettings;
  isMyTurn(): boolean;
  log: Logger;
};
export type LayoutKeeper = Disposable & {
  /** Resolves when the servers were looked at once more. */
  look(): Promise<void>;
};

const LOOK_MS = 10_000;
/** A stream that is full of old requests gives room in steps, so that new streams fill up while it loses old requests. */
const SHRINK_AGAIN_MS = 3_600_000;
const WELL_FILLED = 0.6;

/** One control process looks at the servers, lets streams grow into new ones, and spreads leaders. The others look when it is gone. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function keepLayout(needs: KeepNeeds): LayoutKeeper {
  const { connection, manager, settings, isMyTurn, log } = needs;
  const shrunkAt = new Map<string, number>();
  let bare: ReadonlySet<string> = new Set();
  const leaders = openLeaderMoves();
  let said: string | undefined;
  let isLooking = false;
  let mayMove = true;

  async function grow(): Promise<void> {
    const kept = new Set(
      [...shrunkAt].filter(([, at]) => performance.now() - at < SHRINK_AGAIN_MS).map(([name]) => name),
    );
    const bucket = await openLayoutBucket(connection);
    const grown = await growLayout({ nc: connection.nc, manager, bucket, settings, kept, bare });
    if (!grown.ok) return say(grown.why);
    bare = grown.bare;
    const { refused } = grown;
    if (refused.length > 0) say(`NATS has no room for what ${refused.join(', ')} should grow by`);
    else said = undefined;
    note(grown);
    await spread(grown);
  }

  function note({ survey, eventStreams, made, resized }: Growth): void {
    const fillOf = ({ name, to }: Resized) =>
      (survey.streams.find((stream) => stream.name === name)?.usedBytes ?? 0) / Math.max(1, to);
    for (const each of resized) {
      if (each.to < each.from && fillOf(each) > WELL_FILLED) shrunkAt.set(each.name, performance.now());
    }
    if (made.length === 0 && resized.length === 0) return;
    if (made.length > 0) leaders.noteMade();
    log.info({ servers: survey.stores.length, eventStreams, made, resized }, 'layout.grown');
  }

  async function spread({ survey }: Growth): Promise<void> {
    const move = mayMove ? leaders.next(survey.streams) : undefined;
    if (move === undefined) return;
    try {
      // The new leader has everything that was acknowledged, so nothing is lost, and it answers within moments.
      await handOver(connection.nc, move, move.to);
      log.info(move, 'leader.moved');
    } catch (error) {
      // A NATS user of an earlier version may not.
      mayMove = !isDenied(error);
      log.warn({ ...move, error: String(error) }, 'leader.not_moved');
    }
  }

  function say(why: string): void {
    if (said !== why) log.warn({ why }, 'layout.not_grown');
    said = why;
  }

  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    await grow().catch((error: unknown) => say(String(error)));
    isLooking = false;
  };
  const timer = every(LOOK_MS, () => {
    if (isMyTurn()) void look();
  });
  return { look, [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
