import type { HealthBucket } from '../../stream/deliveries/health-bucket.ts';
import type { LaneHealth } from '../../domain/lane-health.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { Gate } from '../dispatch/gate.ts';
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

/** What is told about lanes: to people, and to the gates of other processes. */
export type LaneReports = {
  report(webhook: Webhook, look: LaneLook): void;
  /** A gate was shut or opened by an answer, before anybody looked at the lane. */
  gateChanged(gate: Gate, webhook: Webhook): void;
  /** A lane is being drained; the figures follow when this look at it is over. */
  draining(webhook: Webhook): void;
  cleared(destinationId: string): void;
  /** Whether the lane is in use. */
  isKnown(destinationId: string): boolean;
  /** Whether the lane holds more than the setting allows. */
  isOverQuota(destinationId: string): boolean;
  appended(destinationId: string, bytes: number): void;
  /** All lanes in use, for those who count them. */
  all(): Iterable<LaneHealth>;
  /** What the bucket says now; for those who follow it. */
  changed(destinationId: string, health: LaneHealth | undefined): void;
};

export type LaneReportsNeeds = {
  health: Pick<HealthBucket, 'put' | 'remove'>;
  dispatcher: Pick<Dispatcher, 'gateOf' | 'shut' | 'reopen'>;
  quotaBytes: number;
  now(): number;
};

type State = {
  needs: LaneReportsNeeds;
  known: Map<string, LaneHealth>;
  /** Bytes written by this process since the last word about the lane. */
  appended: Map<string, number>;
};

export function openLaneReports(needs: LaneReportsNeeds): LaneReports {
  const state: State = { needs, known: new Map(), appended: new Map() };
  const { known, appended } = state;
  return {
    report: (webhook, look) => report(state, webhook, look),
    gateChanged(gate, webhook) {
      put(state, describe(state, webhook, { state: gate.shut?.why ?? 'draining', why: gate.shut?.sentence }));
    },
    draining(webhook) {
      const isTold = known.get(webhook.destinationId)?.state === 'draining';
      if (!isTold) put(state, describe(state, webhook, { state: 'draining' }));
    },
    cleared(destinationId) {
      appended.delete(destinationId);
      if (known.delete(destinationId)) void needs.health.remove(destinationId);
    },
    isKnown: (destinationId) => known.has(destinationId) || appended.has(destinationId),
    isOverQuota(destinationId) {
      return (known.get(destinationId)?.bytes ?? 0) + (appended.get(destinationId) ?? 0) > needs.quotaBytes;
    },
    appended(destinationId, bytes) {
      appended.set(destinationId, (appended.get(destinationId) ?? 0) + bytes);
    },
    all: () => known.values(),
    changed: (destinationId, health) => follow(state, destinationId, health),
  };
}

function report(state: State, webhook: Webhook, look: LaneLook): void {
  const { destinationId } = webhook;
  const { note } = look;
  const { shut } = state.needs.dispatcher.gateOf(destinationId);
  const now = look.state ?? shut?.why ?? 'waiting';
  const { deliveries: depth, bytes } = sizeOf(note, look.counts);
  const isMoving = (now === 'draining' || now === 'waiting') && note.perSecond > 0;
  const deliveriesPerSecond = Math.round(note.perSecond * 10) / 10;
  state.appended.delete(destinationId);
  put(state, {
    ...describe(state, webhook, { state: now, why: shut?.sentence }),
    nextAt: new Date(look.nextAt).toISOString(),
    depth,
    bytes,
    ...(isMoving ? { deliveriesPerSecond, clearInMs: Math.round((depth / note.perSecond) * 1_000) } : {}),
  });
}

function put({ known, needs }: State, health: LaneHealth): void {
  const { destinationId } = health;
  known.set(destinationId, health);
  void needs.health.put(health).then((isStored) => {
    // Nobody else knows, so nobody would tell us when it is over.
    if (!isStored) needs.dispatcher.reopen(destinationId);
  });
}

type Told = { state: LaneHealth['state']; why?: string | undefined };

function describe({ known, needs }: State, { destinationId, workspaceId }: Webhook, { state, why }: Told): LaneHealth {
  const before = known.get(destinationId);
  const updatedAt = new Date(needs.now()).toISOString();
  return {
    destinationId,
    workspaceId,
    state,
    since: before?.state === state ? before.since : updatedAt,
    ...(why === undefined ? {} : { why }),
    depth: before?.depth ?? 0,
    bytes: before?.bytes ?? 0,
    updatedAt,
  };
}

/** What another process learned about a receiver holds for this one too. */
function follow({ known, appended, needs }: State, destinationId: string, health: LaneHealth | undefined): void {
  const { dispatcher } = needs;
  appended.delete(destinationId);
  if (health === undefined) known.delete(destinationId);
  else known.set(destinationId, health);
  if (health?.state !== 'failing' && health?.state !== 'asked_to_wait') {
    dispatcher.reopen(destinationId);
    return;
  }
  if (dispatcher.gateOf(destinationId).shut?.why === health.state) return;
  const { state: why, nextAt } = health;
  const shut = { why, sentence: health.why ?? '', since: Date.parse(health.since) };
  const until = why === 'asked_to_wait' && nextAt !== undefined ? { until: Date.parse(nextAt) } : {};
  dispatcher.shut(destinationId, { ...shut, ...until });
}
