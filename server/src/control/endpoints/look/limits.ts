/** Limits of workspaces: each sees its own with their use, and the operator changes those of any workspace. */
import {
  LimitedWorkspaces,
  type LimitName,
  LimitsChange,
  PageQuery,
  WorkspaceLimits,
} from '@millrace/contract/control';
import { NEAR, PROJECTED_LIMITS } from '../../../limits/limits.ts';
import { appendAudit, INSTALLATION } from '../../../store/audit-log.ts';
import { addSourcesToOutbox } from '../../../store/outbox.ts';
import type { Store, Tx } from '../../../store/open-store.ts';
import { readOwnLimits, removeOwnLimit, setOwnLimit } from '../../../store/workspace-limits.ts';
import { findWorkspace, lockWorkspace, workspaceNames } from '../../../store/workspaces.ts';
import { type Actor, auditActor } from '../../access/actor.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { mustBeOperator } from '../../http/operator.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { engineRoute, type Route } from '../../http/route.ts';
import { readUse, toLimitUses } from '../../limits/read-use.ts';
import { leastHosts } from '../../limits/watch-limits.ts';
import { found } from '../../problems/problems.ts';

const OPERATOR = { permission: 'limits:write', status: 200 } as const;

export const limitRoutes: Route[] = [
  engineRoute({
    method: 'GET',
    url: '/api/v1/workspace/limits',
    summary: 'The limits of the workspace, how much of them it uses, and who can raise them',
    permission: 'usage:read',
    answer: WorkspaceLimits,
    status: 200,
    ask: ({ actor, inWorkspace }, needs) =>
      showLimits(actor.workspaceId, (work) => inWorkspace((tx) => work(tx)), needs),
  }),
  engineRoute({
    method: 'GET',
    url: '/api/v1/operator/limits',
    summary: 'Workspaces with limits of their own, or near one; for the operator',
    query: PageQuery,
    answer: LimitedWorkspaces,
    ...OPERATOR,
    async ask({ actor, query }, needs) {
      await mustBeOperator(actor, needs);
      const page = readPage(query);
      const workspaces = await listLimited(needs, page.after ?? '');
      return toPage(workspaces.slice(0, page.limit), page, {
        item: (workspace) => workspace,
        key: ({ workspaceId }) => workspaceId,
      });
    },
  }),
  engineRoute({
    method: 'GET',
    url: '/api/v1/operator/workspaces/:id/limits',
    summary: 'The limits of any workspace, and how much of them it uses; for the operator',
    answer: WorkspaceLimits,
    ...OPERATOR,
    async ask({ actor, params }, needs) {
      await mustBeOperator(actor, needs);
      found(await needs.store.asSystem((tx) => findWorkspace(tx, params.id)));
      return showLimits(params.id, needs.store.asSystem, needs);
    },
  }),
  engineRoute({
    method: 'PATCH',
    url: '/api/v1/operator/workspaces/:id/limits',
    summary: 'Changes limits of any workspace; null gives a default back; for the operator',
    body: LimitsChange,
    answer: WorkspaceLimits,
    ...OPERATOR,
    async ask({ actor, params, body }, needs) {
      await mustBeOperator(actor, needs);
      await needs.store.asSystem((tx) => changeLimits(tx, { workspaceId: params.id, actor, change: body }, needs));
      await needs.limits?.refresh();
      return showLimits(params.id, needs.store.asSystem, needs);
    },
  }),
];

type LimitsToChange = { workspaceId: string; actor: Actor; change: LimitsChange };

async function changeLimits(tx: Tx, { workspaceId, actor, change }: LimitsToChange, { now }: ControlNeeds) {
  found(await lockWorkspace(tx, workspaceId));
  const own = (await readOwnLimits(tx, workspaceId)).get(workspaceId) ?? {};
  const names = Object.keys(change.limits) as LimitName[];
  for (const name of names) {
    const most = change.limits[name] ?? null;
    if (most === null) await removeOwnLimit(tx, workspaceId, name);
    else await setOwnLimit(tx, workspaceId, name, most);
  }
  if (names.some((name) => (PROJECTED_LIMITS as LimitName[]).includes(name))) await addSourcesToOutbox(tx, workspaceId);
  const before = Object.fromEntries(names.map((name) => [name, own[name] ?? null]));
  const details = { workspaceId, limits: change.limits, before };
  const entry = { at: now(), action: 'limits.changed', objectId: workspaceId, details };
  // The workspace learns which operator it was, and neither address nor session. No other workspace learns of it.
  await appendAudit(tx, workspaceId, { ...entry, actor: { kind: 'operator', id: actor.id } });
  await appendAudit(tx, INSTALLATION, { ...entry, actor: auditActor(actor) });
}

async function showLimits(workspaceId: string, transact: Store['asSystem'], needs: ControlNeeds) {
  const limits = found(needs.limits);
  const { side, lanes, processUse, now } = needs;
  const use = await readUse(
    { transact, side, now, ...(lanes && { lanes }), ...(processUse && { process: processUse }) },
    { workspaceId },
  );
  const own = await transact((tx) => readOwnLimits(tx, workspaceId));
  const shown = toLimitUses(limits.defaults, own.get(workspaceId) ?? {}, use.get(workspaceId) ?? {});
  return { workspaceId, limits: shown };
}

async function listLimited(needs: ControlNeeds, after: string) {
  const limits = found(needs.limits);
  const { store, side, lanes, processUse, now } = needs;
  const reading = { transact: store.asSystem, side, now, ...(lanes && { lanes }) };
  const uses = await readUse(
    { ...reading, ...(processUse && { process: processUse }) },
    { leastHosts: leastHosts(limits) * NEAR },
  );
  const own = await store.asSystem((tx) => readOwnLimits(tx));
  const ids = [...new Set([...uses.keys(), ...own.keys()])].filter((id) => id > after).toSorted();
  const names = await store.asSystem((tx) => workspaceNames(tx, ids));
  return ids.flatMap((workspaceId) => {
    const all = toLimitUses(limits.defaults, own.get(workspaceId) ?? {}, uses.get(workspaceId) ?? {});
    const shown = all.filter(({ isOwn, state }) => isOwn || state === 'near' || state === 'reached');
    const name = names.get(workspaceId);
    return shown.length === 0 || name === undefined ? [] : [{ workspaceId, name, limits: shown }];
  });
}
