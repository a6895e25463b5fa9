/**
 * Watches the audit logs. Each minute it checks the entries of every log that grew since its last anchor, and writes a new
 * anchor (the sequence and hash of the last entry) to NATS and to the process log. Each hour, and at the start, it checks every log
 * as a whole. A log is sound or broken: one failed check makes it broken, and only a sound check of the whole log makes it
 * sound again. The anchor of a broken log does not move. The result of a whole check is a row, which the API shows.
 */
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import { saveAuditCheck } from '../store/audit-checks.ts';
import { auditEnds, type AuditEnd, checkAudit, type CheckedAudit, INSTALLATION } from '../store/audit-log.ts';
import type { Store } from '../store/open-store.ts';
import { keepWorkspace } from '../store/workspaces.ts';
import type { AuditAnchors } from '../stream/config/audit-anchors.ts';
import { pause } from '../pause.ts';

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
      await pause(everyMs, life.signal);
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

/** The id becomes part of a NATS subject, where a dot or a wildcard would mean something else. */
const SAFE_ID = /^[\w-]{1,64}$/;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openAuditWatch({ store, anchors, metrics, log }: AuditNeeds): AuditWatch {
  const known = new Map<string, AuditEnd>();
  const broken = new Set<string>();
  let checkedAt = performance.now();
  metrics?.gauge('millrace_audit_logs_broken', () => broken.size);
  metrics?.gauge('millrace_audit_unchecked_seconds', () => (performance.now() - checkedAt) / 1_000);

  /** Checks the whole log, or the entries since its anchor: those say nothing about the ones before. */
  async function check(workspaceId: string, isWhole: boolean): Promise<void> {
    if (!SAFE_ID.test(workspaceId)) throw new Error('this is no id of a workspace');
    const anchor = await readAnchor(workspaceId);
    const range = anchor === undefined ? {} : isWhole ? { anchor } : { from: anchor };
    const checked = await store.inWorkspace(workspaceId, (tx) => checkAudit(tx, workspaceId, range));
    if ((isWhole || checked.kind === 'broken') && !(await save(workspaceId, checked))) return;
    if (checked.kind === 'broken') {
      const { sequence, why } = checked;
      if (!broken.has(workspaceId)) log.error({ workspaceId, sequence, why }, 'audit.broken');
      broken.add(workspaceId);
      return;
    }
    if (isWhole) broken.delete(workspaceId);
    const hasGrown = checked.end.sequence > (anchor?.sequence ?? 0);
    if (hasGrown && !broken.has(workspaceId)) await moveAnchor(workspaceId, checked.end);
  }

  /** False when the workspace was removed meanwhile, and its log with it. */
  function save(workspaceId: string, checked: CheckedAudit): Promise<boolean> {
    return store.inWorkspace(workspaceId, async (tx) => {
      const isThere = workspaceId === INSTALLATION || (await keepWorkspace(tx, workspaceId));
      if (isThere) await saveAuditCheck(tx, workspaceId, checked);
      return isThere;
    });
  }

  async function readAnchor(workspaceId: string): Promise<AuditEnd | undefined> {
    const last = await anchors.last(workspaceId);
    if (last !== undefined) known.set(workspaceId, { sequence: last.sequence, hash: Buffer.from(last.hash, 'hex') });
    return known.get(workspaceId);
  }

  async function moveAnchor(workspaceId: string, end: AuditEnd): Promise<void> {
    const anchor = { sequence: end.sequence, hash: end.hash.toString('hex') };
    const kept = await anchors.put(workspaceId, anchor);
    if (kept !== 'stored') throw new Error(`the anchor of ${workspaceId} was not stored: ${kept}`);
    known.set(workspaceId, end);
    log.info({ workspaceId, ...anchor }, 'audit.anchored');
  }

  return {
    async anchor() {
      const hasGrown = ([id, { sequence, hash }]: [string, AuditEnd]) => {
        const anchored = known.get(id);
        return !(anchored?.sequence === sequence && anchored.hash.equals(hash));
      };
      const grown = [...(await store.asSystem(auditEnds))].filter(hasGrown).map(([id]) => id);
      await checkEach(grown, (id) => check(id, false));
    },
    async checkAll() {
      const ends = await store.asSystem(auditEnds);
      for (const id of broken) if (!ends.has(id)) broken.delete(id);
      await checkEach(ends.keys(), (id) => check(id, true));
      checkedAt = performance.now();
    },
  };
}

/** Checks the rest when one fails: an attacker who can write to PostgreSQL could put a failing log in front of the others. */
async function checkEach(ids: Iterable<string>, checkOne: (id: string) => Promise<void>): Promise<void> {
  const failures: string[] = [];
  for (const id of ids) {
    await checkOne(id).catch((error: unknown) => failures.push(`${id}: ${String(error)}`));
  }
  if (failures.length > 0) throw new Error(`${failures.length} logs: ${failures.slice(0, 5).join('; ')}`);
}
