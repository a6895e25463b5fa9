import type { HealthBucket } from '../../stream/deliveries/health-bucket.ts';
import type { LaneHealth } from '../../domain/lane-health.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { Gate, Shut } from '../dispatch/gate.ts';
import { type LaneNote, sizeOf } from './lane-note.ts';
import type { Webhook } from '../attempt/webhook.ts';

export type LaneLook = {
  note: LaneNote;
  /** Groups in each tier. */
  counts: ReadonlyMap<number, number>;
  /** Left out when the gate says it. */
  state?: LaneHealth['state'];
  nextAt: number;
};

/** Publishes the health of lanes, for people and for the gates of other processes; and follows what those publish. */
export type LaneReports = {
  report(webhook: Webhook, look: LaneLook): void;
  /** An answer shut or opened the gate, before the next look at the lane. */
  gateChanged(gate: Gate, webhook: Webhook): void;
  /** The lane is being drained; its figures follow when this look is over. */
  draining(webhook: Webhook): void;
  cleared(destinationId: string): void;
  /** Whether the lane is in use. */
  isKnown(destinationId: string): boolean;
  /** Whether the lane holds more than the setting allows. */
  isOverQuota(destinationId: string): boolean;
  appended(destinationId: string, bytes: number): void;
  /** All lanes in use, for the metrics. */
  all(): Iterable<LaneHealth>;
  /** Another process wrote to the bucket; this process shuts or opens its gate likewise. */
  changed(destinationId: string, health: LaneHealth | undefined): void;
};

export type LaneReportsNeeds = {
  health: Pick<HealthBucket, 'put' | 'remove'>;
  dispatcher: Pick<Dispatcher, 'gateOf' | 'shut' | 'reopen'>;
  quotaBytes: number;
  /** The most that one lane may hold now, by the settings and by its share. */
  limitBytes?(): number;
  now(): number;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openLaneReports({ health, dispatcher, quotaBytes, limitBytes, now }: LaneReportsNeeds): LaneReports {
  const known = new Map<string, LaneHealth>();
  /** Bytes that this process appended since the last report on the lane. */
  const appended = new Map<string, number>();

  function put(told: LaneHealth): void {
    const { destinationId } = told;
    const limit = limitBytes?.() ?? Infinity;
    const lane = Number.isFinite(limit) ? { ...told, limitBytes: Math.max(0, Math.round(limit)) } : told;
    known.set(destinationId, lane);
    void health.put(lane).then((isStored) => {
      // No other process knows that the gate is shut, so none would report when it is open again.
      if (!isStored) dispatcher.reopen(destinationId);
    });
  }

  function describe({ destinationId, workspaceId }: Webhook, state: LaneHealth['state'], shut?: Shut): LaneHealth {
    const before = known.get(destinationId);
    const askedUntil = shut?.until ?? shut?.quietUntil;
    const updatedAt = new Date(now()).toISOString();
    return {
      destinationId,
      workspaceId,
      state,
      since: before?.state === state ? before.since : updatedAt,
      ...(shut === undefined ? {} : { why: shut.sentence }),
      ...(askedUntil === undefined ? {} : { quietUntil: new Date(askedUntil).toISOString() }),
      depth: before?.depth ?? 0,
      bytes: before?.bytes ?? 0,
      updatedAt,
    };
  }

  return {
    report(webhook, { note, counts, state, nextAt }) {
      const { destinationId } = webhook;
      const { shut } = dispatcher.gateOf(destinationId);
      const told = state ?? shut?.why ?? 'waiting';
      const { deliveries: depth, bytes } = sizeOf(note, counts);
      const isMoving = (told === 'draining' || told === 'waiting') && note.perSecond > 0;
      const deliveriesPerSecond = Math.round(note.perSecond * 10) / 10;
      appended.delete(destinationId);
      put({
        ...describe(webhook, told, shut),
        nextAt: new Date(nextAt).toISOString(),
        depth,
        bytes,
        ...(isMoving ? { deliveriesPerSecond, clearInMs: Math.round((depth / note.perSecond) * 1_000) } : {}),
      });
    },
    gateChanged({ shut }, webhook) {
      const lane = describe(webhook, shut?.why ?? 'draining', shut);
      put(shut?.until === undefined ? lane : { ...lane, nextAt: new Date(shut.until).toISOString() });
    },
    draining(webhook) {
      if (known.get(webhook.destinationId)?.state !== 'draining') put(describe(webhook, 'draining'));
    },
    cleared(destinationId) {
      appended.delete(destinationId);
      if (known.delete(destinationId)) void health.remove(destinationId);
    },
    isKnown: (destinationId) => known.has(destinationId) || appended.has(destinationId),
    isOverQuota(destinationId) {
      return (known.get(destinationId)?.bytes ?? 0) + (appended.get(destinationId) ?? 0) > quotaBytes;
    },
    appended(destinationId, bytes) {
      appended.set(destinationId, (appended.get(destinationId) ?? 0) + bytes);
    },
    all: () => known.values(),
    changed(destinationId, lane) {
      // The echo of our own removal says nothing of what was appended since.
      if (lane !== undefined || known.has(destinationId)) appended.delete(destinationId);
      if (lane === undefined) known.delete(destinationId);
      else known.set(destinationId, lane);
      if (lane?.state !== 'failing' && lane?.state !== 'asked_to_wait') {
        dispatcher.reopen(destinationId);
        return;
      }
      const { shut } = dispatcher.gateOf(destinationId);
      const isKnown = shut?.why === lane.state;
      if (isKnown && askedUntil(lane) <= (shut.until ?? shut.quietUntil ?? 0)) return;
      dispatcher.shut(destinationId, shutBy(lane, lane.state));
    },
  };
}

/** Until when the receiver asked for quiet; 0 when it did not. An older version tells it as the time of the next look. */
function askedUntil({
  state,
  nextAt,
  quietUntil = state === 'asked_to_wait' ? nextAt : undefined,
}: LaneHealth): number {
  return quietUntil === undefined ? 0 : Date.parse(quietUntil) || 0;
}

function shutBy(lane: LaneHealth, why: Shut['why']): Shut {
  const shut = { why, sentence: lane.why ?? '', since: Date.parse(lane.since) };
  const asked = askedUntil(lane);
  if (asked === 0) return shut;
  return why === 'failing' ? { ...shut, quietUntil: asked } : { ...shut, until: asked };
}
