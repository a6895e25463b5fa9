/** An audit log as lines of JSON: a head, every entry with its hashes, an end. contract/src/audit-chain.ts checks them. */
import { type ExportEnd, type ExportHead, FIRST_HASH } from '@millrace/contract/audit-chain';
import { auditAfter, toChainEntry } from '../../store/audit-log.ts';
import type { Tx } from '../../store/open-store.ts';

type InWorkspace = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

const ROWS_AT_ONCE = 1_000;

/** Reads page by page, so neither memory nor a transaction grows with the log. Entries that come meanwhile may be in it. */
export async function* exportAudit(workspaceId: string, at: Date, inWorkspace: InWorkspace): AsyncGenerator<string> {
  const head: ExportHead = {
    kind: 'millrace-audit-log',
    version: 1,
    workspaceId,
    exportedAt: at.toISOString(),
  };
  yield `${JSON.stringify(head)}\n`;
  let last = { sequence: 0, hash: FIRST_HASH };
  for (;;) {
    const rows = await inWorkspace((tx) => auditAfter(tx, workspaceId, last.sequence, ROWS_AT_ONCE));
    const entries = rows.map(toChainEntry);
    if (entries.length > 0) yield entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    last = entries.at(-1) ?? last;
    if (rows.length < ROWS_AT_ONCE) break;
  }
  const end: ExportEnd = { kind: 'end', entries: last.sequence, hash: last.hash };
  yield `${JSON.stringify(end)}\n`;
}
