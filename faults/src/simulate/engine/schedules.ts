import { ticketAtSubject, TICKETS_STREAM } from '../../../../server/src/stream/layout/layout.ts';
import type { ModelEngine, ModelStream } from './model-engine.ts';
import { headerOf } from './wire.ts';
import type { StoredMessage } from './stored-stream.ts';

const LOOK_MS = 30;

/**
 * Tickets. Engine facts: the leader fires a schedule when its own clock says so, soon after and never before; the message that it fires
 * has the payload of the schedule; one that came due without a leader fires when there is one.
 */
export function fireWhenDue(engine: ModelEngine): void {
  const stream = engine.streams.get(TICKETS_STREAM);
  if (stream === undefined) return;
  const firing = new Set<number>();
  const look = () => {
    // A write that a lost leader had under way did not happen: the next leader fires again.
    if (stream.group.leader() === undefined) firing.clear();
    for (const schedule of dueNow(engine, stream)) {
      if (firing.has(schedule.seq)) continue;
      firing.add(schedule.seq);
      fire(engine, stream, schedule);
    }
    engine.clock.after(LOOK_MS, engine.process, look);
  };
  look();
}

function dueNow(engine: ModelEngine, stream: ModelStream): StoredMessage[] {
  if (stream.group.leader() === undefined) return [];
  const now = engine.stampOf(stream);
  const scheduled = [...stream.stored.subjects(ticketAtSubject('*')).keys()].flatMap(
    (each) => stream.stored.lastOf(each) ?? [],
  );
  return scheduled.filter(
    (message) => Date.parse(headerOf(message, 'Nats-Schedule')?.replace('@at ', '') ?? '') <= now,
  );
}

function fire(engine: ModelEngine, stream: ModelStream, { subject, headers, data }: StoredMessage): void {
  const target = headerOf({ headers }, 'Nats-Schedule-Target') ?? '';
  stream.group.propose(() => {
    const fired = [
      ['Nats-Scheduler', subject],
      ['Nats-Schedule-Next', 'purge'],
    ] as const;
    engine.store(stream, { subject: target, headers: fired, data });
    return undefined;
  });
}
