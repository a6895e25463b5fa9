/** Reads the audit log. `audit` of control/http/audit-change.ts writes its entries, and control/audit/read-log.ts those of reads. */
import { AuditCheck, AuditEntries, PageQuery } from '@millrace/contract/control';
import { findAuditCheck } from '../../../store/audit-checks.ts';
import { listAudit } from '../../../store/audit-log.ts';
import { exportAudit } from '../../audit/export-audit.ts';
import { auditPage, toAuditPage } from '../../http/audit-page.ts';
import { linesRoute, type Route, route } from '../../http/route.ts';

export const auditRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/audit-log',
    summary:
      'The audit log: every change, every read of payloads and write keys, every refused permission; newest first',
    permission: 'audit:read',
    query: PageQuery,
    answer: AuditEntries,
    status: 200,
    async handle({ tx, actor, query }) {
      const page = auditPage(query);
      return toAuditPage(await listAudit(tx, actor.workspaceId, page), page);
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/audit-log/check',
    summary: 'The last check of the whole audit log: whether its hash chain holds',
    permission: 'audit:read',
    answer: AuditCheck,
    status: 200,
    async handle({ tx, actor }) {
      const row = await findAuditCheck(tx, actor.workspaceId);
      if (row === undefined) {
        return { state: 'unchecked', checkedAt: null, entries: 0, brokenSequence: null, why: null };
      }
      const brokenSequence = row.broken_sequence === null ? null : Number(row.broken_sequence);
      const state = brokenSequence === null ? 'holds' : 'broken';
      const { why } = row;
      return { state, checkedAt: row.checked_at.toISOString(), entries: Number(row.entries), brokenSequence, why };
    },
  }),
  linesRoute({
    method: 'GET',
    url: '/api/v1/audit-log/export',
    summary: 'The whole audit log with its hashes as NDJSON, to be checked with `millrace audit check`',
    permission: 'audit:read',
    status: 200,
    lines: ({ actor, inWorkspace }, { now }) => exportAudit(actor.workspaceId, now(), inWorkspace),
  }),
];
