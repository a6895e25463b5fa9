import { PageQuery } from '@millrace/contract/control';
import type { TSchema } from 'typebox';
import { findJob, type JobKind, type JobRow, type JobState, listJobs, moveJob } from '../../../store/jobs.ts';
import { readPage, toPage } from '../../http/paging.ts';
import type { Permission } from '../../access/permissions.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { type ApiUrl, type Route, route } from '../../http/route.ts';

export type JobRoutes = {
  kind: JobKind;
  /** The job's name in summaries and audit actions: `replay`. */
  word: string;
  url: ApiUrl;
  read: Permission;
  write: Permission;
  one: TSchema;
  many: TSchema;
  /** A job for readers without `payloads:read`. */
  hide?(job: never): unknown;
};

export function toJob({ id, state, asked, done, total, skipped, problem, ...row }: JobRow) {
  return {
    id,
    state,
    asked,
    progress: { done, total, skipped },
    problem,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
  };
}

/** Endpoints to list and read the jobs of one kind. */
export function jobReadRoutes(
  { kind, word, url, read, one, many, hide }: Omit<JobRoutes, 'write'>,
  item: (row: JobRow) => unknown = toJob,
): Route[] {
  const hidden = (job: unknown) => hide?.(job as never) ?? job;
  const hideMany = ({ items, ...page }: { items: unknown[] }) => ({ ...page, items: items.map(hidden) });
  return [
    route({
      method: 'GET',
      url,
      summary: `The ${word}s of the workspace, newest first`,
      permission: read,
      query: PageQuery,
      answer: many,
      ...(hide && { payloads: { hide: hideMany } }),
      status: 200,
      async handle({ tx, actor, query }) {
        const page = readPage(query);
        const rows = await listJobs(tx, { workspaceId: actor.workspaceId, kind }, page);
        return toPage(rows, page, { item, key: (row) => row.id });
      },
    }),
    route({
      method: 'GET',
      url: `${url}/:id`,
      summary: `One ${word}, with its progress`,
      permission: read,
      answer: one,
      ...(hide && { payloads: { hide: hidden } }),
      status: 200,
      async handle({ tx, actor, params }) {
        return item(found(await findJob(tx, { workspaceId: actor.workspaceId, kind, id: params.id })));
      },
    }),
  ];
}

const MOVES = {
  pause: { from: ['running', 'paused'], to: 'paused', past: 'paused', does: 'Pauses' },
  resume: { from: ['paused', 'running'], to: 'running', past: 'resumed', does: 'Resumes' },
  cancel: { from: ['running', 'paused', 'cancelled'], to: 'cancelled', past: 'cancelled', does: 'Cancels' },
} as const satisfies Record<string, { from: JobState[]; to: JobState; past: string; does: string }>;

/** Endpoints to list, read, pause, resume and cancel the jobs of one kind. */
export function jobRoutes(of: JobRoutes): Route[] {
  const moves = Object.entries(MOVES).map(([verb, move]) =>
    route({
      method: 'POST',
      url: `${of.url}/:id/${verb}`,
      summary: `${move.does} a ${of.word}, within two seconds`,
      permission: of.write,
      answer: of.one,
      ...(of.hide && { payloads: { hide: of.hide } }),
      status: 200,
      async handle({ tx, actor, params, audit }) {
        const name = { workspaceId: actor.workspaceId, kind: of.kind, id: params.id };
        const before = found(await findJob(tx, name));
        const moved = await moveJob(tx, name, move);
        if (moved === undefined) throw new ApiProblem('wrong_state');
        const { state, done, total } = before;
        await audit(`${of.word}.${move.past}`, params.id, { details: { from: state, done, total } });
        return toJob(moved);
      },
    }),
  );
  return [...jobReadRoutes(of), ...moves];
}
