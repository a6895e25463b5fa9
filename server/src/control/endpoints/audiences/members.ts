/** The people of a definition: its members, their changes, and its size over time. */
import {
  type CURVE_RANGES,
  CurveQuery,
  DefinitionHistory,
  DefinitionMembers,
  PageQuery,
  SizeCurve,
} from '@millrace/contract/control';
import type { IdKind } from '../../../compute/profiles/profile-key.ts';
import { findDefinition } from '../../../store/definitions/definitions.ts';
import {
  listChanges,
  listMemberships,
  type Membership,
  type MembershipChange,
} from '../../../store/compute/memberships.ts';
import { sizeCurve } from '../../../store/definitions/size-curve.ts';
import { membershipSizes } from '../../../store/compute/sizes.ts';
import { type PageParams, readPage, toPage } from '../../http/paging.ts';
import { type Route, route } from '../../http/route.ts';
import { ApiProblem, found } from '../../problems/problems.ts';

/** They show ids of people. */
const READ = { permission: 'audiences:read', alsoNeeds: 'profiles:read', payloads: {}, status: 200 } as const;

export const membershipRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/definitions/:id/members',
    summary: 'The members of an audience, or the profiles that have a value of a computed trait',
    query: PageQuery,
    answer: DefinitionMembers,
    ...READ,
    async handle({ tx, actor, params, query }) {
      const { number } = found(await findDefinition(tx, actor.workspaceId, params.id));
      const page = pageAfter(query, /^[0-9a-f]{32}$/);
      const rows = await listMemberships(tx, number, page);
      return toPage(rows, page, { item: toMember, key: ({ key }) => key });
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/definitions/:id/history',
    summary: 'The changes of memberships or values, newest first',
    query: PageQuery,
    answer: DefinitionHistory,
    ...READ,
    async handle({ tx, actor, params, query }) {
      const { number } = found(await findDefinition(tx, actor.workspaceId, params.id));
      const page = pageAfter(query, /^[1-9][0-9]{0,17}$/);
      const rows = await listChanges(tx, number, page);
      const item = (row: MembershipChange) => ({ ...(row.profile && idOf(row.profile)), ...toChange(row) });
      return toPage(rows, page, { item, key: ({ change }) => change });
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/definitions/:id/curve',
    summary: 'The size over time, noted every minute',
    query: CurveQuery,
    answer: SizeCurve,
    permission: 'audiences:read',
    status: 200,
    async handle({ tx, actor, params, query }, { now }) {
      const { number } = found(await findDefinition(tx, actor.workspaceId, params.id));
      const { lengthMs, stepSeconds } = RANGES[query.range ?? '24h'];
      const to = now();
      const from = new Date(to.getTime() - lengthMs);
      const past = await sizeCurve(tx, number, { from, stepSeconds });
      const size = (await membershipSizes(tx, actor.workspaceId)).get(number) ?? 0;
      const points = [...past, { at: to, size: Math.max(0, size) }];
      return {
        from: from.toISOString(),
        to: to.toISOString(),
        step: stepSeconds,
        points: points.map((point) => ({ at: point.at.toISOString(), size: point.size })),
      };
    },
  }),
];

const HOUR_MS = 3_600_000;
const RANGES: Readonly<Record<(typeof CURVE_RANGES)[number], { lengthMs: number; stepSeconds: number }>> = {
  '1h': { lengthMs: HOUR_MS, stepSeconds: 60 },
  '24h': { lengthMs: 24 * HOUR_MS, stepSeconds: 300 },
  '7d': { lengthMs: 7 * 24 * HOUR_MS, stepSeconds: 3_600 },
  '30d': { lengthMs: 30 * 24 * HOUR_MS, stepSeconds: 14_400 },
};

/** A cursor of another list is no place in this one. */
function pageAfter(query: PageParams, form: RegExp): ReturnType<typeof readPage> {
  const page = readPage(query);
  if (page.after !== undefined && !form.test(page.after)) throw new ApiProblem('invalid_cursor');
  return page;
}

export function idOf({ kind, id }: { kind: IdKind; id: string }): { userId: string } | { anonymousId: string } {
  return kind === 'user' ? { userId: id } : { anonymousId: id };
}

function toMember(row: Membership) {
  return { ...idOf(row), value: row.value, since: row.since.toISOString(), sequence: row.sequence };
}

export function toChange({ at, value, sequence, cause, messageId }: MembershipChange) {
  return { at: at.toISOString(), value, sequence, cause, messageId: messageId ?? null };
}
