import {
  type CatalogEntry,
  Destination,
  DestinationChange,
  DestinationQuery,
  Destinations,
  NewDestination,
  RotatedSecret,
  RotateSecret,
} from '@millrace/contract/control';
import {
  countDestinations,
  deleteDestination,
  type DestinationRow,
  findDestination,
  insertDestination,
  listDestinations,
  lockDestination,
  updateDestination,
} from '../../../store/destinations.ts';
import { findActorName } from '../../../store/actor-names.ts';
import { findSource, lockSource } from '../../../store/sources.ts';
import { type Actor, startedBy } from '../../access/actor.ts';
import { isAllowed } from '../../access/permissions.ts';
import { mustBeProven, mustFitHosts, targetsIn } from '../../limits/target-hosts.ts';
import { entryNamed } from '../../settings/entry-named.ts';
import {
  changedSettings,
  checkedSettings,
  newSecretSettings,
  shownSettings,
} from '../../settings/destination-settings.ts';
import { mustBeUnderstood } from '../../settings/newer-settings.ts';
import { checkedFilters, filtersForLog } from '../../settings/destination-filters.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { newId } from '../../../store/new-id.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { readProjections } from './read-projections.ts';
import { type ApiRequest, type Route, route } from '../../http/route.ts';

const READ = { permission: 'destinations:read', status: 200 } as const;
const WRITE = { permission: 'destinations:write' } as const;

/** Each event becomes a delivery for each of them: this bounds the work and the memory behind one accepted request. */
export const MAX_DESTINATIONS_OF_SOURCE = 50;

export const destinationRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/destinations',
    summary: 'The destinations of the workspace, or of one source',
    query: DestinationQuery,
    answer: Destinations,
    ...READ,
    async handle({ tx, actor, query }, { catalog }) {
      const { workspaceId } = actor;
      const { sourceId } = query;
      if (sourceId !== undefined) found(await findSource(tx, workspaceId, sourceId));
      const page = readPage(query);
      const rows = await listDestinations(tx, { workspaceId, sourceId }, page);
      const projectionOf = await readProjections(
        tx,
        workspaceId,
        rows.map((row) => row.id),
      );
      const item = (row: DestinationRow) => ({ ...toDestination(row, catalog), projection: projectionOf(row.id) });
      return toPage(rows, page, { item, key: (row) => row.id });
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/destinations',
    summary: 'Attaches a destination of the catalog to a source',
    body: NewDestination,
    answer: Destination,
    status: 201,
    ...WRITE,
    async handle(request, needs) {
      const { tx, actor, body, audit } = request;
      const { workspaceId } = actor;
      const entry = entryNamed(needs.catalog, body.catalog);
      // Locked, so that two concurrent requests do not both find room.
      const source = found(await lockSource(tx, workspaceId, body.sourceId));
      const count = await countDestinations(tx, workspaceId, source.id);
      if (count >= MAX_DESTINATIONS_OF_SOURCE) throw new ApiProblem('too_many_destinations');
      const id = newId('dst');
      const settings = checkedSettings(entry, body.settings, { owner: { workspaceId, destinationId: id }, needs });
      mustBeUnderstood({}, settings, needs.side);
      const hosts = { workspaceId, after: targetsIn(settings), before: [] };
      await mustBeProven(tx, needs, hosts);
      const { name = entry.name, enabled = false } = body;
      const filters = checkedFilters(body.filters ?? []);
      const row = { workspace_id: workspaceId, id, source_id: source.id, catalog: entry.name, name, enabled };
      await insertDestination(tx, { ...row, filters, settings });
      const about = { sourceId: source.id, catalog: entry.name, name, enabled };
      const details = { ...about, ...filtersForLog(body.filters), settings: Object.keys(settings) };
      await audit('destination.created', id, { details, projects: 'destination', grows: true });
      await needs.limits?.mustFit(tx, workspaceId, 'destinations');
      await mustFitHosts(tx, needs, hosts);
      return readDestination(request, id, needs);
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/destinations/:id',
    summary: 'One destination',
    answer: Destination,
    ...READ,
    handle: (request, needs) => readDestination(request, request.params.id, needs),
  }),
  route({
    method: 'PATCH',
    url: '/api/v1/destinations/:id',
    summary: 'Renames, enables, disables, pauses, resumes, filters or sets a destination',
    body: DestinationChange,
    answer: Destination,
    status: 200,
    ...WRITE,
    async handle(request, needs) {
      const { tx, actor, params, body, audit } = request;
      const { name, enabled, paused } = body;
      const before = found(await lockDestination(tx, actor.workspaceId, params.id));
      const settings = body.settings === undefined ? before.settings : changedSettings(before, body.settings, needs);
      mustBeUnderstood(before.settings, settings, needs.side);
      const hosts = { workspaceId: actor.workspaceId, after: targetsIn(settings), before: targetsIn(before.settings) };
      await mustBeProven(tx, needs, hosts);
      const after = {
        ...before,
        name: name ?? before.name,
        enabled: enabled ?? before.enabled,
        ...pauseTimes(before, paused, { now: needs.now(), actor }),
        filters: checkedFilters(body.filters ?? before.filters),
        settings,
      };
      await updateDestination(tx, after);
      const grows = textBytes(after) > textBytes(before);
      const set = body.settings === undefined ? {} : { settings: Object.keys(body.settings) };
      const details = { ...body, ...filtersForLog(body.filters), ...set };
      await audit('destination.changed', before.id, { details, projects: 'destination', grows });
      await mustFitHosts(tx, needs, hosts);
      return readDestination(request, before.id, needs);
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/destinations/:id',
    summary: 'Deletes a destination',
    status: 204,
    ...WRITE,
    async handle({ tx, actor, params, audit }) {
      const { id, ...row } = found(await deleteDestination(tx, actor.workspaceId, params.id));
      const details = { sourceId: row.source_id, catalog: row.catalog, name: row.name };
      await audit('destination.deleted', id, { details, projects: 'destination' });
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/destinations/:id/rotate-secret',
    summary: 'Replaces the shared secret; the previous one stays valid beside it for some hours',
    body: RotateSecret,
    answer: RotatedSecret,
    status: 200,
    ...WRITE,
    async handle({ tx, actor, params, body, audit }, needs) {
      const before = found(await lockDestination(tx, actor.workspaceId, params.id));
      const { settings, newSecret, previousUntil } = newSecretSettings(before, body, needs);
      await updateDestination(tx, { ...before, settings });
      const details = { previousValidUntil: previousUntil?.toISOString() ?? null };
      await audit('destination.secret_rotated', before.id, { details, projects: 'destination' });
      return { ...(newSecret === undefined ? {} : { sharedSecret: newSecret }), ...details };
    },
  }),
];

/** The destination as the API shows it: a new field of the API is added here and to the contract. */
function toDestination(row: DestinationRow, catalog: readonly CatalogEntry[]) {
  return {
    id: row.id,
    sourceId: row.source_id,
    catalog: row.catalog,
    name: row.name,
    enabled: row.enabled,
    paused: row.paused_at !== null,
    pausedAt: row.paused_at?.toISOString() ?? null,
    filters: row.filters,
    settings: shownSettings(row, catalog),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** The size of the texts, without the switches: a disable or a pause is never refused for its size. */
function textBytes({ name, filters, settings }: Pick<DestinationRow, 'name' | 'filters' | 'settings'>): number {
  return Buffer.byteLength(JSON.stringify([name, filters, settings]));
}

async function readDestination({ tx, actor }: ApiRequest, id: string, { catalog }: ControlNeeds) {
  const row = found(await findDestination(tx, actor.workspaceId, id));
  const projectionOf = await readProjections(tx, actor.workspaceId, [id]);
  const isTold = row.paused_at !== null && isAllowed('audit:read', actor);
  const pausedBy = isTold ? { pausedBy: await readPausedBy(tx, row) } : {};
  return { ...toDestination(row, catalog), ...pausedBy, projection: projectionOf(id) };
}

/** Null when a version that did not note it paused it. */
async function readPausedBy(tx: ApiRequest['tx'], { workspace_id, paused_at, paused_by }: DestinationRow) {
  if (paused_by === null || paused_by.at !== paused_at?.toISOString()) return null;
  const { kind, id } = paused_by;
  return { kind, id, ...(await findActorName(tx, workspace_id, paused_by)) };
}

type PauseTimes = Pick<DestinationRow, 'paused_at' | 'paused_by' | 'resumed_at'>;

/** Pausing a paused destination, or resuming a running one, changes nothing: it must not extend the retry window. */
function pauseTimes(
  { paused_at, paused_by, resumed_at }: PauseTimes,
  wanted: boolean | undefined,
  { now, actor }: { now: Date; actor: Actor },
): PauseTimes {
  if (wanted === undefined || wanted === (paused_at !== null)) return { paused_at, paused_by, resumed_at };
  if (!wanted) return { paused_at: null, paused_by: null, resumed_at: now };
  return { paused_at: now, paused_by: { ...startedBy(actor), at: now.toISOString() }, resumed_at };
}
