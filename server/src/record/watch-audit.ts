/**
 * Watches the audit logs. Each minute the end of every log that grew is anchored in NATS and in our own log, after the entries
 * since the last anchor were checked against it. Each hour, and at the start, every log is checked as a whole. A log that
 * does not hold is broken until it holds again: its anchor stays where it is.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import { auditEnds, type AuditEnd, checkAudit } from '../store/audit-log.ts';
import type { Store } from '../store/open-store.ts';
import type { AuditAnchors } from '../stream/config/audit-anchors.ts';

export type AuditNeeds = { store: Store; anchors: AuditAnchors; metrics?: Metrics; log: Logger };

export type AuditWatch = {
  /** Anchors the ends of logs that grew since the last time. */
  anchor(): Promise<void>;
  /** Checks every log from its first entry on. */
  checkAll(): Promise<void>;
};

const ANCHOR_MS = 60_000;
const CHECK_MS = 3_600_000;

export function startAuditWatch(needs: AuditNeeds): AsyncDisposable {
  const watch = openAuditWatch(needs);
  const life = new AbortController();
  const keep = async (everyMs: number, work: () => Promise<void>) => {
    while (!life.signal.aborted) {
      await work().catch((error: unknown) => needs.log.warn({ error: String(error) }, 'audit.not_checked'));
      await sleep(everyMs, undefined, { signal: life.signal }).catch(() => undefined);
    }
  };
  const running = [keep(CHECK_MS, watch.checkAll), keep(ANCHOR_MS, watch.anchor)];
  return {
    async [Symbol.asyncDispose]() {
      life.abort();
      await Promise.all(running);
    },
  };
}

type State = AuditNeeds & { known: Map<string, AuditEnd>; broken: Set<string> };

export function openAuditWatch(needs: AuditNeeds): AuditWatch {
  const { store, metrics } = needs;
  const state: State = { ...needs, known: new Map(), broken: new Set() };
  let checkedAt = performance.now();
  metrics?.gauge('millrace_audit_logs_broken', () => state.broken.size);
  metrics?.gauge('millrace_audit_unchecked_seconds', () => (performance.now() - checkedAt) / 1_000);
  return {
    async anchor() {
      const hasGrown = ([id, { sequence, hash }]: [string, AuditEnd]) => {
        const anchored = state.known.get(id);
        return !(anchored?.sequence === sequence && anchored.hash.equals(hash));
      };
      const grown = [...(await store.asSystem(auditEnds))].filter(hasGrown).map(([id]) => id);
      await checkEach(grown, (id) => check(state, id, false));
    },
    async checkAll() {
      const ids = (await store.asSystem(auditEnds)).keys();
      await checkEach(ids, (id) => check(state, id, true));
      checkedAt = performance.now();
    },
  };
}

/** One log that cannot be checked must not hide the others: whoever can write to PostgreSQL could put one in front. */
async function checkEach(ids: Iterable<string>, checkOne: (id: string) => Promise<void>): Promise<void> {
  const failures: string[] = [];
  for (const id of ids) {
    await checkOne(id).catch((error: unknown) => failures.push(`${id}: ${String(error)}`));
  }
  if (failures.length > 0) throw new Error(`${failures.length} logs: ${failures.slice(0, 5).join('; ')}`);
}

/** An id becomes a part of a subject, where a dot or a wildcard would mean something else. */
const SAFE_ID = /^[\w-]{1,64}$/;

/** The whole log, or the entries since its anchor: those say nothing about the ones before. */
async function check(state: State, workspaceId: string, isWhole: boolean): Promise<void> {
  const { store, broken, log } = state;
  if (!SAFE_ID.test(workspaceId)) throw new Error('this is no id of a workspace');
  const anchor = await readAnchor(state, workspaceId);
  const range = anchor === undefined ? {} : isWhole ? { anchor } : { from: anchor };
  const checked = await store.inWorkspace(workspaceId, (tx) => checkAudit(tx, workspaceId, range));
  if (checked.kind === 'broken') {
    const { sequence, why } = checked;
    if (!broken.has(workspaceId)) log.error({ workspaceId, sequence, why }, 'audit.broken');
    broken.add(workspaceId);
    return;
  }
  if (isWhole) broken.delete(workspaceId);
  const hasGrown = checked.end.sequence > (anchor?.sequence ?? 0);
  if (hasGrown && !broken.has(workspaceId)) await moveAnchor(state, workspaceId, checked.end);
}

async function readAnchor({ anchors, known }: State, workspaceId: string): Promise<AuditEnd | undefined> {
  const last = await anchors.last(workspaceId);
  if (last !== undefined) known.set(workspaceId, { sequence: last.sequence, hash: Buffer.from(last.hash, 'hex') });
  return known.get(workspaceId);
}

async function moveAnchor({ anchors, known, log }: State, workspaceId: string, end: AuditEnd): Promise<void> {
  const anchor = { sequence: end.sequence, hash: end.hash.toString('hex') };
  const kept = await anchors.put(workspaceId, anchor);
  if (kept !== 'stored') throw new Error(`the anchor of ${workspaceId} was not stored: ${kept}`);
  known.set(workspaceId, end);
  log.info({ workspaceId, ...anchor }, 'audit.anchored');
}
