import { DeletionRequest, DeletionRequests, NewDeletion, PageQuery } from '@millrace/contract/control';
import { deliveryId } from '../../../domain/delivery.ts';
import { anonymousName, userHash } from '../../../domain/withheld.ts';
import { type ErasedProfiles, eraseProfiles } from '../../../store/compute/erase-profiles.ts';
import { destinationPlaces } from '../../../store/destinations.ts';
import { findNotifications } from '../../../store/erase-records.ts';
import { insertErasedUsers } from '../../../store/erased-users.ts';
import { findJob, insertJob, type JobRow, listJobs } from '../../../store/jobs.ts';
import type { Tx } from '../../../store/open-store.ts';
import { allSourceIds, findComputedSource } from '../../../store/sources.ts';
import { startedBy } from '../../access/actor.ts';
import { toJob } from './job-routes.ts';
import { type DeletionReceipt, notificationId } from '../../jobs/delete-users.ts';
import type { DeletionPlan } from '../../jobs/deletion-plan.ts';
import { newId } from '../../../store/new-id.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { type Route, route } from '../../http/route.ts';

const READ = { permission: 'deletions:read', status: 200 } as const;
const KIND = 'deletion';

export const deletionRoutes: Route[] = [
  route({
    method: 'POST',
    url: '/api/v1/deletion-requests',
    summary: 'Erases users: notifies the destinations, then erases the users from all stores',
    body: NewDeletion,
    answer: DeletionRequest,
    status: 201,
    permission: 'deletions:write',
    async handle({ tx, actor, body, audit }, { now }) {
      const { workspaceId } = actor;
      const { counts, ids } = await eraseProfiles(tx, workspaceId, body.userIds);
      // The time is read when nothing of them can be added to profiles and outbox any more.
      const work = await workOut(tx, workspaceId, { asked: body, ids, now: now() });
      const { userIds: _, anonymousIds: __, destinations, sourceIds: ___, ...details } = work;
      await leaveMarks(tx, workspaceId, work);
      const job = await insertJob(tx, {
        workspace_id: workspaceId,
        id: newId('del'),
        kind: KIND,
        started_by: startedBy(actor),
        asked: work,
        receipt: { erased: counts },
      });
      // Without `grows`: the size limit depends on the other workspaces, and must never block the deletion of a user.
      await audit('deletion.requested', job.id, { details: { ...details, destinations: destinations.length } });
      return toDeletion(tx, job);
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/deletion-requests',
    summary: 'The deletion requests of the workspace, newest first',
    query: PageQuery,
    answer: DeletionRequests,
    ...READ,
    async handle({ tx, actor, query }) {
      const page = readPage(query);
      const rows = await listJobs(tx, { workspaceId: actor.workspaceId, kind: KIND }, page);
      const { items, nextCursor } = toPage(rows, page, { item: (row) => row, key: (row) => row.id });
      const shown: Awaited<ReturnType<typeof toDeletion>>[] = [];
      for (const row of items) shown.push(await toDeletion(tx, row));
      return { items: shown, nextCursor };
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/deletion-requests/:id',
    summary: 'One deletion request, with its receipt',
    answer: DeletionRequest,
    ...READ,
    async handle({ tx, actor, params }) {
      const name = { workspaceId: actor.workspaceId, kind: KIND, id: params.id } as const;
      return toDeletion(tx, found(await findJob(tx, name)));
    },
  }),
];

type Asked = { asked: NewDeletion; ids: ErasedProfiles['ids']; now: Date };

/** Former names and devices that audiences know of these users count as theirs. */
async function workOut(tx: Tx, workspaceId: string, { asked, ids, now }: Asked): Promise<DeletionPlan> {
  const { sources, suppress = false } = asked;
  const own = await allSourceIds(tx, workspaceId);
  if (sources?.some((id) => !own.includes(id)) === true) throw new ApiProblem('not_found');
  const idsOf = (kind: 'user' | 'anonymous') => ids.flatMap((each) => (each.kind === kind ? each.id : []));
  const userIds = [...new Set([...asked.userIds, ...idsOf('user')])];
  // A profile is of no single source, and neither is what was sent of it.
  const computed = await findComputedSource(tx, workspaceId);
  const sourceIds = [...new Set([...(sources ?? own), ...(computed === undefined ? [] : [computed.id])])];
  const places = await destinationPlaces(tx, workspaceId, sourceIds);
  return {
    userIds,
    anonymousIds: idsOf('anonymous'),
    userHashes: userIds.map((id) => userHash(workspaceId, id)),
    sources: sources ?? null,
    suppress,
    erasedBefore: now.toISOString(),
    destinations: places.map(({ id, source_id, enabled }) => ({
      sourceId: source_id,
      destinationId: id,
      isTold: enabled,
    })),
    sourceIds,
  };
}

/** For all sources, or for those that were named and the computed one. The calls of a device are erased and never suppressed. */
async function leaveMarks(tx: Tx, workspaceId: string, plan: DeletionPlan): Promise<void> {
  const { userHashes, anonymousIds = [], sources, sourceIds, suppress } = plan;
  const marks = {
    workspaceId,
    sourceIds: sources === null ? [''] : sourceIds,
    erasedBefore: new Date(plan.erasedBefore),
  };
  await insertErasedUsers(tx, { ...marks, userHashes, suppressed: suppress });
  const devices = anonymousIds.map((id) => userHash(workspaceId, anonymousName(id)));
  await insertErasedUsers(tx, { ...marks, userHashes: devices, suppressed: false });
}

async function toDeletion(tx: Tx, job: JobRow) {
  const { asked: _, ...rest } = toJob(job);
  const { userHashes, sources, suppress, erasedBefore } = job.asked as DeletionPlan;
  const { erased = {} } = job.receipt as DeletionReceipt;
  const receipt = { notifications: await notificationsOf(tx, job), erased };
  return { ...rest, userHashes, sources, suppress, erasedBefore, receipt };
}

/** The notifications that were sent, each with its state in the record. */
async function notificationsOf(tx: Tx, { id, workspace_id: workspaceId, asked, receipt }: JobRow) {
  const { destinations, userHashes } = asked as DeletionPlan;
  const { toldAt = {} } = receipt as DeletionReceipt;
  const sent = destinations.flatMap(({ sourceId, destinationId }) => {
    const sentAt = toldAt[destinationId];
    if (sentAt === undefined) return [];
    return userHashes.map((_, index) => {
      const messageId = notificationId(id, index);
      return { sourceId, destinationId, deliveryId: deliveryId(destinationId, sourceId, messageId), sentAt };
    });
  });
  const ids = sent.map((each) => each.deliveryId);
  const known = new Map((await findNotifications(tx, workspaceId, ids)).map((row) => [row.id, row]));
  return sent.map((each) => {
    const row = known.get(each.deliveryId);
    return { ...each, outcome: row?.state ?? null, status: row?.last_status ?? null };
  });
}
