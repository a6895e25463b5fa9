import {
  NewSource,
  NewWriteKey,
  PageQuery,
  Source,
  SourceChange,
  SourceEventChange,
  SourceEvents,
  Sources,
  WriteKey,
} from '@millrace/contract/control';
import { listDefinitions } from '../../../store/definitions/definitions.ts';
import { addDestinationsToOutbox } from '../../../store/outbox.ts';
import { blockedEvents, listSourceEvents, setEventBlocked } from '../../../store/source-events.ts';
import {
  deleteSource,
  findSource,
  insertSource,
  listSources,
  lockSource,
  type SourceRow,
  updateSource,
} from '../../../store/sources.ts';
import { insertWriteKey, listWriteKeys, revokeWriteKey, type WriteKeyRow } from '../../../store/write-keys.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { newId } from '../../../store/new-id.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { moveToCell, mustBeCell } from '../../settings/source-cell.ts';
import { readProjections } from './read-projections.ts';
import { type ApiRequest, type Route, route } from '../../http/route.ts';
import { hashOfSecret, makeSecret } from '../../access/secret-text.ts';

const READ = { permission: 'sources:read', status: 200 } as const;
const WRITE = { permission: 'sources:write' } as const;

export const sourceRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/sources',
    summary: 'The sources of the workspace',
    query: PageQuery,
    answer: Sources,
    showsWriteKeys: true,
    ...READ,
    async handle({ tx, actor, query }, needs) {
      const page = readPage(query);
      const rows = await listSources(tx, actor.workspaceId, page);
      const ids = rows.map((row) => row.id);
      const keys = await listWriteKeys(tx, actor.workspaceId, ids);
      const projectionOf = await readProjections(tx, actor.workspaceId, ids);
      const item = (row: SourceRow) => ({ ...toSource(row, keys, needs), projection: projectionOf(row.id) });
      return toPage(rows, page, { item, key: (row) => row.id });
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/sources',
    summary: 'Creates a source with a first write key',
    body: NewSource,
    answer: Source,
    status: 201,
    ...WRITE,
    async handle(request, needs) {
      const { tx, actor, body, audit } = request;
      const id = newId('src');
      if (body.cell !== undefined) await mustBeCell(tx, body.cell);
      await insertSource(tx, { workspaceId: actor.workspaceId, id, ...body });
      await addWriteKey(request, id, 'First key', needs);
      await audit('source.created', id, { details: body, projects: 'source', grows: true });
      await needs.limits?.mustFit(tx, actor.workspaceId, 'sources');
      return readSource(request, id, needs);
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/sources/:id',
    summary: 'One source',
    answer: Source,
    showsWriteKeys: true,
    ...READ,
    handle: (request, needs) => readSource(request, request.params.id, needs),
  }),
  route({
    method: 'PATCH',
    url: '/api/v1/sources/:id',
    summary: 'Renames, enables, disables or limits a source, or moves it to another cell',
    body: SourceChange,
    answer: Source,
    status: 200,
    ...WRITE,
    async handle(request, needs) {
      const { tx, actor, params, body, audit } = request;
      const before = found(await findSource(tx, actor.workspaceId, params.id));
      await updateSource(tx, before, body);
      const { cell = cellAfter(before) } = body;
      if (cell !== cellAfter(before)) await moveToCell(tx, before, cell);
      const grows = body.name !== undefined && Buffer.byteLength(body.name) > Buffer.byteLength(before.name);
      await audit('source.changed', before.id, { details: body, projects: 'source', grows });
      return readSource(request, before.id, needs);
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/sources/:id',
    summary: 'Deletes a source, its keys and its destinations',
    status: 204,
    ...WRITE,
    async handle({ tx, actor: { workspaceId }, params, audit }) {
      const { id, name, kind } = found(await lockSource(tx, workspaceId, params.id));
      if (kind === 'computed' && (await listDefinitions(tx, workspaceId, { limit: 1, after: undefined })).length > 0)
        throw inUse();
      await addDestinationsToOutbox(tx, workspaceId, id);
      await deleteSource(tx, workspaceId, id);
      await audit('source.deleted', id, { details: { name }, projects: 'source' });
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/sources/:id/write-keys',
    summary: 'Adds a write key',
    body: NewWriteKey,
    answer: WriteKey,
    status: 201,
    ...WRITE,
    async handle(request, needs) {
      const { tx, actor, params, body, audit } = request;
      const source = found(await findSource(tx, actor.workspaceId, params.id));
      if (source.kind === 'computed') throw keyless();
      const keyId = await addWriteKey(request, source.id, body.label ?? 'Key', needs);
      await audit('write_key.created', source.id, { details: { keyId }, projects: 'source', grows: true });
      const keys = await listWriteKeys(tx, actor.workspaceId, [source.id]);
      return toWriteKey(found(keys.find((key) => key.id === keyId)), needs);
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/sources/:id/write-keys/:keyId',
    summary: 'Revokes a write key',
    status: 204,
    ...WRITE,
    async handle({ tx, actor: { workspaceId }, params, audit }) {
      const key = found(await revokeWriteKey(tx, { workspaceId, sourceId: params.id, id: params.keyId }));
      await audit('write_key.revoked', key.source_id, { details: { keyId: key.id }, projects: 'source' });
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/sources/:id/events',
    summary: "Event names of the source's track calls, each with whether it is blocked",
    query: PageQuery,
    answer: SourceEvents,
    ...READ,
    async handle({ tx, actor, params, query }) {
      const source = found(await findSource(tx, actor.workspaceId, params.id));
      const page = readPage(query);
      const rows = await listSourceEvents(tx, { workspaceId: actor.workspaceId, sourceId: source.id }, page);
      return toPage(rows, page, {
        key: (row) => row.name,
        item: (row) => ({
          name: row.name,
          blocked: row.blocked,
          firstSeenAt: row.first_seen_at?.toISOString() ?? null,
          lastSeenAt: row.last_seen_at?.toISOString() ?? null,
        }),
      });
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/sources/:id/events',
    summary: 'Blocks or unblocks a track event by name',
    body: SourceEventChange,
    status: 204,
    ...WRITE,
    async handle({ tx, actor, params, body, audit }) {
      const source = found(await findSource(tx, actor.workspaceId, params.id));
      const of = { workspaceId: actor.workspaceId, sourceId: source.id };
      await setEventBlocked(tx, of, body);
      if ((await blockedEvents(tx, of)).length > MAX_BLOCKED_EVENTS) throw tooManyBlocked();
      const { name, blocked } = body;
      const change = { details: { name }, projects: 'source', grows: blocked } as const;
      await audit(blocked ? 'event.blocked' : 'event.unblocked', source.id, change);
    },
  }),
];

/** Every process that collects or delivers holds them in memory. */
const MAX_BLOCKED_EVENTS = 1_000;

function tooManyBlocked(): ApiProblem {
  const message = `cannot be blocked: ${MAX_BLOCKED_EVENTS} events of this source are; unblock one first`;
  return new ApiProblem('invalid_request', [{ path: '/name', message }]);
}

function inUse(): ApiProblem {
  const message = 'is the source of audiences and computed traits: delete all of those first';
  return new ApiProblem('invalid_request', [{ path: '/id', message }]);
}

function keyless(): ApiProblem {
  const message = 'is the source of audiences and computed traits, which takes no calls of clients';
  return new ApiProblem('invalid_request', [{ path: '/id', message }]);
}

async function readSource({ tx, actor }: ApiRequest, id: string, needs: ControlNeeds) {
  const row = found(await findSource(tx, actor.workspaceId, id));
  const projectionOf = await readProjections(tx, actor.workspaceId, [id]);
  const keys = await listWriteKeys(tx, actor.workspaceId, [id]);
  return { ...toSource(row, keys, needs), projection: projectionOf(id) };
}

async function addWriteKey({ tx, actor }: ApiRequest, sourceId: string, label: string, { keyRing }: ControlNeeds) {
  const { workspaceId } = actor;
  const id = newId('key');
  const key = makeSecret('wk');
  const keySealed = keyRing.seal(key, { workspaceId, table: 'write_keys', column: 'key_sealed', rowId: id });
  await insertWriteKey(tx, { workspaceId, id, sourceId, label, keyHash: hashOfSecret(key), keySealed });
  return id;
}

function cellAfter({ cell, next_cell: next }: SourceRow): string {
  return next ?? cell;
}

function toSource(row: SourceRow, keys: WriteKeyRow[], needs: ControlNeeds) {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    enabled: row.enabled,
    rateLimitPerSecond: row.rate_limit_per_second,
    cell: row.cell,
    ...(cellAfter(row) === row.cell ? {} : { nextCell: cellAfter(row) }),
    writeKeys: keys.filter((key) => key.source_id === row.id).map((key) => toWriteKey(key, needs)),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function toWriteKey(row: WriteKeyRow, { keyRing }: ControlNeeds) {
  const place = { workspaceId: row.workspace_id, table: 'write_keys', column: 'key_sealed', rowId: row.id };
  return {
    id: row.id,
    key: keyRing.open(row.key_sealed, place),
    label: row.label,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}
