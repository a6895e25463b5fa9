/**
 * Sends the entries of audit logs to the webhook URLs of their workspaces: in order, at least once. A stream is due or waits (`next_at`). A
 * process claims a due one under a lease, has a deliver process POST the next entries, and moves the position when the receiver has
 * answered 2xx; any other answer delays it with exponential backoff, a second to an hour, without end. A process that dies after the
 * POST leaves the position where it was: the receiver gets these entries again, with the same sequences and the same `webhook-id`. A
 * few streams are under way at a time, and none waits for the receiver of another one.
 */
import { signBody, signingKey, signStandardWebhook } from '@millrace/contract';
import { SET_HEADERS } from '../../domain/webhook-headers.ts';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import { pause } from '../../pause.ts';
import type { KeyRing, Place } from '../../secrets/seal.ts';
import { type AuditRow, auditAfter, toChainEntry } from '../../store/audit-log.ts';
import {
  advanceAuditStream,
  AUDIT_WAITS,
  type AuditStreamRow,
  claimAuditStreams,
  countFailingAuditStreams,
  delayAuditStream,
} from '../../store/audit-streams.ts';
import type { Store } from '../../store/open-store.ts';
import type { Asks } from '../../stream/signals/asks.ts';

export type StreamAuditNeeds = {
  store: Store;
  keyRing: KeyRing;
  asks: Asks;
  now(): Date;
  metrics?: Metrics;
  log: Logger;
};

const LOOK_MS = 1_000;
const COUNT_MS = 15_000;
/** A quarter of the questions that one deliver process answers at a time. */
const AT_ONCE = 8;
/** Longer than one attempt can take: control waits ten seconds for deliver. */
const LEASE_MS = 60_000;
const ENTRIES_AT_ONCE = 100;
/** Of one body; a question to deliver must fit into a message of NATS. */
const MAX_BYTES = 262_144;
const BACKOFF_MS = { first: 1_000, most: 3_600_000 };

export function startStreamingAudit(needs: StreamAuditNeeds): AsyncDisposable {
  const life = new AbortController();
  let failing = 0;
  needs.metrics?.gauge('millrace_audit_streams_failing', () => failing);
  const keep = async (everyMs: number, work: () => Promise<void>) => {
    while (!life.signal.aborted) {
      await work().catch((error: unknown) => needs.log.warn({ error: String(error) }, 'audit_streams.not_looked'));
      await pause(everyMs, life.signal);
    }
  };
  const count = async () => void (failing = await needs.store.asSystem(countFailingAuditStreams));
  const sending = new Set<Promise<void>>();
  const look = async () => {
    if (!(await needs.store.holds(AUDIT_WAITS))) return;
    for (const row of await claim(AT_ONCE - sending.size, needs)) {
      const one = sendDue(row, needs, life.signal)
        .catch((error: unknown) => needs.log.warn({ error: String(error) }, 'audit_streams.not_sent'))
        .finally(() => sending.delete(one));
      sending.add(one);
    }
  };
  const running = [keep(LOOK_MS, look), keep(COUNT_MS, count)];
  return {
    async [Symbol.asyncDispose]() {
      life.abort();
      await Promise.all(running);
      await Promise.all(sending);
    },
  };
}

async function claim(limit: number, { store }: StreamAuditNeeds): Promise<AuditStreamRow[]> {
  return limit <= 0 ? [] : store.asSystem((tx) => claimAuditStreams(tx, { limit, leaseMs: LEASE_MS }));
}

/** Sends one POST after the other, of this stream and then of whichever is due, until none is. */
async function sendDue(first: AuditStreamRow, needs: StreamAuditNeeds, signal: AbortSignal): Promise<void> {
  for (let row: AuditStreamRow | undefined = first; row !== undefined; ) {
    await sendNext(row, needs);
    if (signal.aborted) return;
    [row] = await claim(1, needs);
  }
}

async function sendNext(row: AuditStreamRow, { store, keyRing, asks, now, log }: StreamAuditNeeds): Promise<void> {
  const { workspace_id: workspaceId } = row;
  const rows = await store.inWorkspace(workspaceId, (tx) =>
    auditAfter(tx, workspaceId, Number(row.position), ENTRIES_AT_ONCE),
  );
  const { body, last } = bodyOf(workspaceId, rows);
  if (last === undefined) return;
  const secret = openSecret(row, keyRing);
  const why = secret === undefined ? 'not_opened' : await post(row, { body, last, secret, at: now() }, asks);
  if (why === undefined) {
    await store.asSystem((tx) => advanceAuditStream(tx, row, last));
    return;
  }
  const afterMs = Math.min(BACKOFF_MS.first * 2 ** Math.min(row.failures, 20), BACKOFF_MS.most);
  await store.asSystem((tx) => delayAuditStream(tx, row, { afterMs, why }));
  log.warn({ workspaceId, failures: row.failures + 1, afterMs, why }, 'audit_stream.delayed');
}

/** As many entries as fit, and at least one. */
function bodyOf(workspaceId: string, rows: readonly AuditRow[]): { body: string; last: number | undefined } {
  const entries: string[] = [];
  let bytes = 0;
  for (const row of rows) {
    const text = JSON.stringify(toChainEntry(row));
    bytes += Buffer.byteLength(text);
    if (entries.length > 0 && bytes > MAX_BYTES) break;
    entries.push(text);
  }
  const last = rows[entries.length - 1];
  const body = `{"workspaceId":${JSON.stringify(workspaceId)},"entries":[${entries.join(',')}]}`;
  return { body, last: last === undefined ? undefined : Number(last.sequence) };
}

type Posted = { body: string; last: number; secret: string; at: Date };

/** Why it was not taken, as a code; undefined when it was. */
async function post(row: AuditStreamRow, { body, last, secret, at }: Posted, asks: Asks): Promise<string | undefined> {
  const { workspace_id: workspaceId, position, url } = row;
  const id = `audit_${workspaceId}_${Number(position) + 1}_${last}`;
  const timestampSeconds = Math.floor(at.getTime() / 1_000);
  const key = signingKey(secret);
  const headers = {
    [SET_HEADERS.id]: id,
    [SET_HEADERS.timestamp]: String(timestampSeconds),
    [SET_HEADERS.signature]: signStandardWebhook([key], { id, timestampSeconds, body }),
    [SET_HEADERS.bodySignature]: signBody(key, body),
    [SET_HEADERS.attempt]: String(row.failures + 1),
  };
  const asked = await asks.ask({ kind: 'post_audit', workspaceId, url, headers, body });
  if (asked.kind !== 'answered') return `deliver_${asked.kind}`;
  if (asked.answer.kind !== 'audit_posted') return 'deliver_not_applied';
  const { status, why } = asked.answer;
  if (status === null) return why ?? 'unknown';
  return status >= 200 && status < 300 ? undefined : `http_${status}`;
}

export function auditSecretPlace(workspaceId: string, id: string): Place {
  return { workspaceId, table: 'audit_streams', column: 'secret_sealed', rowId: id };
}

/** Undefined while this process lacks the key: in a rotation another process may have it. */
function openSecret({ workspace_id: workspaceId, id, secret_sealed }: AuditStreamRow, keyRing: KeyRing) {
  try {
    return keyRing.open(secret_sealed, auditSecretPlace(workspaceId, id));
  } catch {
    return undefined;
  }
}
