/** The installation above its workspaces, by its numbers: an operator sees nothing that a workspace holds. */
import { AuditEntries, InstallationWorkspaces, PageQuery } from '@millrace/contract/control';
import { INSTALLATION, listAudit } from '../../../store/audit-log.ts';
import { listWorkspaceSizes, type WorkspaceSize } from '../../../store/workspace-sizes.ts';
import { auditPage, toAuditPage } from '../../http/audit-page.ts';
import { mustBeOperatorIn } from '../../http/operator.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { engineRoute, type Route } from '../../http/route.ts';

export const installationRoutes: Route[] = [
  engineRoute({
    method: 'GET',
    url: '/api/v1/installation/workspaces',
    summary: 'Every workspace with its size and its calls, and nothing of its contents; for operators',
    permission: 'operators:read',
    query: PageQuery,
    answer: InstallationWorkspaces,
    status: 200,
    ask: ({ actor, query }, { store, now }) =>
      store.asSystem(async (tx) => {
        await mustBeOperatorIn(tx, actor);
        const page = readPage(query);
        const rows = await listWorkspaceSizes(tx, `${now().toISOString().slice(0, 7)}-01`, page);
        return toPage(rows, page, { item: toItem, key: ({ id }) => id });
      }),
  }),
  engineRoute({
    method: 'GET',
    url: '/api/v1/installation/audit-log',
    summary: 'The audit log of the installation: changes of operators, newest first; for operators',
    permission: 'operators:read',
    query: PageQuery,
    answer: AuditEntries,
    status: 200,
    ask: ({ actor, query }, { store }) =>
      store.asSystem(async (tx) => {
        await mustBeOperatorIn(tx, actor);
        const page = auditPage(query);
        return toAuditPage(await listAudit(tx, INSTALLATION, page), page);
      }),
  }),
];

function toItem({ created_at, ends_at, calls, calls_before: callsBefore, ...row }: WorkspaceSize) {
  const times = { createdAt: created_at.toISOString(), endsAt: ends_at?.toISOString() ?? null };
  return { ...row, ...times, calls: Number(calls), callsBefore: Number(callsBefore) };
}
