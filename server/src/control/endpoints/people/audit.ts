/** Reads the audit log. `audit` of control/http/audit-change.ts writes its entries. */
import { AuditEntries, PageQuery } from '@millrace/contract/control';
import { listAudit } from '../../../store/audit-log.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { type Route, route } from '../../http/route.ts';

export const auditRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/audit-log',
    summary: 'The audit log: every change with its actor, newest first',
    permission: 'audit:read',
    query: PageQuery,
    answer: AuditEntries,
    status: 200,
    async handle({ tx, actor, query }) {
      const page = readPage(query);
      if (page.after !== undefined && !/^\d{1,15}$/.test(page.after)) throw new ApiProblem('invalid_cursor');
      const rows = await listAudit(tx, actor.workspaceId, page);
      return toPage(rows, page, {
        key: (row) => row.sequence,
        item: ({ sequence, at, actor: by, action, object_id: objectId, details }) => ({
          sequence: Number(sequence),
          at: at.toISOString(),
          actor: by,
          action,
          objectId,
          details,
        }),
      });
    },
  }),
];
