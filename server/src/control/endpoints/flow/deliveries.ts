import { Deliveries, DeliveryDetails, DeliveryQuery } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { attemptsOf } from '../../../store/attempts.ts';
import {
  type DeliveryFilter,
  type DeliveryPage,
  type DeliveryRow,
  findDelivery,
  listDeliveries,
} from '../../../store/deliveries.ts';
import { findPlain } from '../../../store/plain-deliveries.ts';
import { recordText } from '../../../store/record-text.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { toAttempt, toDelivery } from '../../../record/record-answers.ts';
import { type Route, route } from '../../http/route.ts';
import { hideInDelivery, hideInDetails } from './hide-payloads.ts';

const READ = { permission: 'deliveries:read', status: 200 } as const;

export const deliveryRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/deliveries',
    summary: 'The record of deliveries, newest first',
    query: DeliveryQuery,
    answer: Deliveries,
    payloads: {
      hide: ({ items, ...page }: Static<typeof Deliveries>) => ({ ...page, items: items.map(hideInDelivery) }),
      asksAbout: ({ query }: { query: Static<typeof DeliveryQuery> }) => query.userId !== undefined,
    },
    ...READ,
    async handle({ tx, actor, query }, { successRowsKept = 1 }) {
      const page = readPage(query);
      const after = page.after === undefined ? undefined : readPlace(page.after);
      const rows = await listDeliveries(tx, filterOf(query, actor.workspaceId), { limit: page.limit, after });
      const key = (row: DeliveryRow) => `${row.received_at.toISOString()} ${row.id}`;
      return { ...toPage(rows, page, { item: toDelivery, key }), successRowsKept };
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/deliveries/:id',
    summary: 'One delivery with its attempts',
    answer: DeliveryDetails,
    payloads: { hide: hideInDetails },
    ...READ,
    async handle({ tx, actor, params }) {
      const { workspaceId } = actor;
      const row = await findDelivery(tx, workspaceId, params.id);
      if (row === undefined) {
        const [plain] = await findPlain(tx, workspaceId, [params.id]);
        throw new ApiProblem(plain === undefined ? 'not_found' : 'delivery_without_row');
      }
      const attempts = await attemptsOf(tx, workspaceId, [row.id]);
      return { ...toDelivery(row), history: attempts.map(toAttempt) };
    },
  }),
];

/** The record stores texts shortened, so the filter shortens them the same way. */
function filterOf(query: Static<typeof DeliveryQuery>, workspaceId: string): DeliveryFilter {
  const { destinationId, sourceId, state, errorClass, userId, event, messageId } = query;
  const text = (given: string | undefined) => (given === undefined ? undefined : recordText(given));
  return {
    workspaceId,
    destinationId: text(destinationId),
    sourceId: text(sourceId),
    state,
    errorClass: text(errorClass),
    userId: text(userId),
    name: text(event),
    messageId: text(messageId),
    from: utc(query.from),
    to: utc(query.to),
  };
}

function utc(time: string | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

function readPlace(cursor: string): DeliveryPage['after'] {
  const [, receivedAt, id] = /^(\S{24}) (dlv_\S{1,64})$/.exec(cursor) ?? [];
  if (receivedAt === undefined || id === undefined || Number.isNaN(Date.parse(receivedAt))) {
    throw new ApiProblem('invalid_cursor');
  }
  return { receivedAt: new Date(receivedAt).toISOString(), id };
}
