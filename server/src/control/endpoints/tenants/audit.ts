/** Reads the audit log. `audit` of control/http/audit-change.ts writes its entries, and control/audit/read-log.ts those of reads. */
import { AuditEntries, PageQuery } from '@millrace/contract/control';
import { listAudit } from '../../../store/audit-log.ts';
import { auditPage, toAuditPage } from '../../http/audit-page.ts';
import { type Route, route } from '../../http/route.ts';

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
];
