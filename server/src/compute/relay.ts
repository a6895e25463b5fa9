/**
 * Sends transitions. One relay of all compute processes holds the position `relay` and takes turns: it claims a batch, stores its calls in the
 * event streams, and deletes the batch when all of them are acknowledged. A batch that a dead relay has left is sent again by the next:
 * with the same requests, which the streams recognise. The next batch is claimed after the one before is gone, so what is sent of a
 * profile and definition comes in the order of its sequences.
 */
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import { type Bell, pause } from '../pause.ts';
import { newId } from '../store/new-id.ts';
import type { Store } from '../store/open-store.ts';
import { addOutsideToOutbox, addToOutbox } from '../store/outbox.ts';
import { findComputedSource, insertComputedSource } from '../store/sources.ts';
import type { Appended, RequestToAppend } from '../stream/events/append-request.ts';
import type { ComputeSide } from '../stream/open-compute-side.ts';
import { makeRequests } from './make-identifies.ts';
import type { HeldPosition, ProfileStore, SendingBatch, SendingTransition } from './profiles/profile-store.ts';
import { endOf, type ReaderEnd } from './read-stream.ts';

export const RELAY = 'relay';

export type RelayNeeds = {
  store: Store;
  profiles: ProfileStore;
  side: ComputeSide;
  append(request: RequestToAppend): Promise<Appended>;
  /** Rings when there is something to send. */
  bell: Bell;
  metrics: Metrics;
  log: Logger;
};

export type Relay = { stop(): Promise<void>; ended: Promise<ReaderEnd>; waitingMs(): number };

/** Before it was claimed it was this time. */
type Claimed = { batch: SendingBatch; at: number };

const MOST = 1_000;
/**
 * Of first syncs, in one batch. The next ones wait until deliver has finished these but for a few requests, because a change that comes
 * meanwhile waits behind them; not for good, because other requests may keep deliver busy.
 */
const FIRST_SYNCS = { most: 500, fewRequests: 5, patienceMs: 2_000, lookMs: 50 };
/** Without a ring: transitions wait until their definition's settle time is over. */
const LOOK_MS = 500;
const BEAT_MS = 2_000;
const RETRY_MS = 250;
/** While deliver is busy, transitions wait for a moment in PostgreSQL, where they coalesce. */
const BUSY = { waiting: 2_000, patienceMs: 2_000 };
/** A stream that is so full gets nothing from here: calls of clients come first. */
const CROWDED = 0.85;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function startRelay(held: HeldPosition, needs: RelayNeeds): Relay {
  const { store, profiles, side, append, bell, log } = needs;
  const life = new AbortController();
  const { signal } = life;
  const sent = needs.metrics.counter('millrace_compute_sent_total');
  const sources = new Map<string, string>();
  let beatMs = -Infinity;
  let oldestAt: number | undefined;
  /** When first syncs were last sent; undefined when deliver has finished them. */
  let syncedMs: number | undefined;

  async function relayOn(): Promise<ReaderEnd> {
    while (!signal.aborted) {
      await beat();
      const ofFirstSyncs = await roomForFirstSyncs();
      const first = await claim(ofFirstSyncs);
      if (first === undefined) {
        oldestAt = undefined;
        await bell.wait(ofFirstSyncs === 0 ? FIRST_SYNCS.lookMs : LOOK_MS);
        continue;
      }
      oldestAt = oldestOf(first.batch);
      // After a while it is read again: a user in it may have been erased.
      const claimed = (await waitedForRoom()) ? await claim(0) : first;
      if (claimed === undefined) continue;
      if (!(await send(claimed))) break;
      if (claimed.batch.transitions.some(isOfFirstSync)) syncedMs = performance.now();
      await profiles.deleteBatch(held, claimed.batch.batch);
    }
    return 'stopped';
  }

  async function roomForFirstSyncs(): Promise<number> {
    if (syncedMs === undefined) return FIRST_SYNCS.most;
    const load = await side.load().catch(() => undefined);
    const isFinished = load !== undefined && load.unfinished <= FIRST_SYNCS.fewRequests;
    if (!isFinished && performance.now() - syncedMs < FIRST_SYNCS.patienceMs) return 0;
    syncedMs = undefined;
    return FIRST_SYNCS.most;
  }

  /** A batch that was claimed before is read again. */
  async function claim(mostOfFirstSyncs: number): Promise<Claimed | undefined> {
    const at = side.now();
    const options = { now: at, most: MOST, mostOfFirstSyncs };
    const batch = await profiles.claimBatch(held, options);
    return batch && { batch, at };
  }

  /** Tells other processes that this relay is alive. */
  async function beat(): Promise<void> {
    if (performance.now() - beatMs < BEAT_MS) return;
    const position = { createdAt: 0, sequence: 0, storedAt: 0, clock: side.now(), left: [] };
    await profiles.fold(held, (tx) => tx.moveTo(position));
    beatMs = performance.now();
  }

  /**
   * False when it was stopped before everything was stored. The calls count as received when the batch was claimed, so deliver leaves out those
   * of a user who is erased after that, however late they are stored.
   */
  async function send({ batch: { batch, transitions }, at }: Claimed): Promise<boolean> {
    for (const [workspaceId, own] of Map.groupBy(transitions, (each) => each.workspaceId)) {
      const sourceId = await sourceOf(workspaceId);
      const { requests, tooLarge } = makeRequests({ batch, transitions: own }, sourceId, at);
      for (const each of tooLarge) refuse(each);
      const stored = await Promise.all(requests.map(storeOne));
      if (!stored.every(Boolean)) return false;
      sent.add(own.length - tooLarge.length);
    }
    return true;
  }

  function refuse({ definitionId, sequence }: SendingTransition): void {
    log.error({ definitionId, sequence, why: 'its value is too large for a request' }, 'transition.refused');
  }

  async function storeOne(request: RequestToAppend): Promise<boolean> {
    for (let isWaiting = false; ; isWaiting = true) {
      const appended = await append(request).catch((error: unknown): Appended => ({ ok: false, why: String(error) }));
      if (appended.ok) return true;
      if (signal.aborted) return false;
      if (!isWaiting) log.warn({ why: appended.why }, 'relay.waiting');
      await pause(RETRY_MS, signal);
      await beat();
    }
  }

  /** Waits until the streams have room and deliver is not busy. Whether that took a while. */
  async function waitedForRoom(): Promise<boolean> {
    const startedMs = performance.now();
    for (let times = 0; !signal.aborted; times += 1) {
      const load = await side.load().catch(() => undefined);
      const isBusy = (load?.waiting ?? 0) >= BUSY.waiting && performance.now() - startedMs < BUSY.patienceMs;
      if (load === undefined || (load.fill < CROWDED && !isBusy)) return times > 0;
      await pause(RETRY_MS, signal);
      await beat();
    }
    return true;
  }

  async function sourceOf(workspaceId: string): Promise<string> {
    const known =
      sources.get(workspaceId) ?? (await store.inWorkspace(workspaceId, (tx) => ensureSource(tx, workspaceId)));
    sources.set(workspaceId, known);
    return known;
  }

  const ended = relayOn().catch((error: unknown) =>
    endOf(error, () => log.error({ error: String(error) }, 'relay.failed')),
  );
  return {
    ended,
    waitingMs: () => (oldestAt === undefined ? 0 : Math.max(0, side.now() - oldestAt)),
    async stop() {
      life.abort();
      bell.ring();
      await ended;
    },
  };
}

function isOfFirstSync({ sendAt }: SendingTransition): boolean {
  return sendAt === undefined;
}

/** First syncs wait for good reasons. */
function oldestOf({ transitions }: SendingBatch): number | undefined {
  const times = transitions.flatMap(({ sendAt }) => sendAt ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

type Tx = Parameters<typeof findComputedSource>[0];

/** The first definition of a workspace makes it; one that was lost is made again. */
async function ensureSource(tx: Tx, workspaceId: string): Promise<string> {
  const found = await findComputedSource(tx, workspaceId);
  if (found !== undefined) return found.id;
  const made = await insertComputedSource(tx, workspaceId, newId('src'));
  if (made === undefined) throw new Error('the computed source is being made by another transaction');
  // Before the source: deliver takes its calls when it knows the source.
  await addOutsideToOutbox(tx, workspaceId);
  await addToOutbox(tx, { kind: 'source', workspaceId, objectId: made.id });
  return made.id;
}
