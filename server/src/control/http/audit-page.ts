/** A page of an audit log, as the API answers it. */
import type { AuditRow } from '../../store/audit-log.ts';
import type { Page } from '../../store/rows.ts';
import { ApiProblem } from '../problems/problems.ts';
import { readPage, toPage } from './paging.ts';

export function auditPage(query: Parameters<typeof readPage>[0]): Page {
  const page = readPage(query);
  if (page.after !== undefined && !/^\d{1,15}$/.test(page.after)) throw new ApiProblem('invalid_cursor');
  return page;
}

export function toAuditPage(rows: AuditRow[], page: Page) {
  return toPage(rows, page, {
    key: (row) => row.sequence,
    item: ({ sequence, at, actor, action, object_id: objectId, details }) => ({
      sequence: Number(sequence),
      at: at.toISOString(),
      actor,
      action,
      objectId,
      details,
    }),
  });
}
