import { isDeepStrictEqual } from 'node:util';
import { type Definition as DefinitionBody, definitionKey, MAX_DEFINITIONS } from '@millrace/contract/audiences';
import {
  Definition,
  DefinitionChange,
  DefinitionQuery,
  Definitions,
  DeleteDefinitionQuery,
  NewDefinition,
  ResyncDefinition,
} from '@millrace/contract/control';
import { assignSlots } from '../../../compute/fold/measure-need.ts';
import { askResync, deleteDefinition, measuresInUse } from '../../../store/definitions/lifecycle.ts';
import {
  holderOfKey,
  type KnownDefinition,
  knownDefinitions,
  withVersions,
} from '../../../store/definitions/definition-views.ts';
import {
  changeDefinitions,
  findDefinition,
  insertDefinition,
  insertVersion,
  listDefinitions,
  nextMeasureSlot,
  updateDefinition,
} from '../../../store/definitions/definitions.ts';
import { newId } from '../../../store/new-id.ts';
import type { Tx } from '../../../store/open-store.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { type ApiRequest, type Route, route } from '../../http/route.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import {
  askersOf,
  bodyOf,
  changedDefinition,
  definitionOf,
  definitionProblems,
  mustRefer,
} from './checked-definition.ts';
import { readLag } from './read-lag.ts';
import { toDefinitions } from './to-definition.ts';

const READ = { permission: 'audiences:read', status: 200 } as const;
const WRITE = { permission: 'audiences:write', changesDefinitions: true } as const;

export const definitionRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/definitions',
    summary: 'The audiences and computed traits of the workspace',
    query: DefinitionQuery,
    answer: Definitions,
    ...READ,
    async handle({ tx, actor: { workspaceId }, query }, needs) {
      const page = readPage(query);
      const rows = await listDefinitions(tx, workspaceId, page, query.kind);
      const { items, nextCursor } = toPage(rows, page, { item: (row) => row, key: (row) => row.id });
      const shown = await toDefinitions(tx, workspaceId, await withVersions(tx, items));
      return { items: shown, nextCursor, lagSeconds: await readLag(tx, needs) };
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/definitions',
    summary: 'Creates an audience or a computed trait; every member is told once it is computed',
    body: NewDefinition,
    check: (body) => definitionProblems(body),
    answer: Definition,
    status: 201,
    ...WRITE,
    async handle(request) {
      const { tx, actor, body: definition, audit } = request;
      const { workspaceId } = actor;
      // Locked, so that two requests do not both find room.
      const change = await changeDefinitions(tx);
      const known = await knownDefinitions(tx, workspaceId);
      if (known.length >= MAX_DEFINITIONS) throw new ApiProblem('too_many_definitions');
      await mustRefer(tx, { workspaceId, definition, before: undefined, known });
      const { kind, name, destinations = [] } = definition;
      const id = newId(kind === 'audience' ? 'aud' : 'trt');
      const key = definitionKey(name);
      const row = await insertDefinition(tx, change, { workspace_id: workspaceId, id, kind, key, name, destinations });
      if (row === undefined) throw await keyTaken(tx, workspaceId, key);
      await addVersion(tx, change, { workspaceId, number: row.number, definition });
      await audit('definition.created', id, { details: { kind, key, name, destinations } });
      return readDefinition(request, id);
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/definitions/:id',
    summary: 'One audience or computed trait',
    answer: Definition,
    ...READ,
    handle: (request) => readDefinition(request, request.params.id),
  }),
  route({
    method: 'PATCH',
    url: '/api/v1/definitions/:id',
    summary:
      'Renames an audience or computed trait, changes its destinations or what it computes; only differences are told',
    body: DefinitionChange,
    answer: Definition,
    status: 200,
    ...WRITE,
    async handle(request) {
      const { tx, actor, params, body, audit } = request;
      const { workspaceId } = actor;
      const change = await changeDefinitions(tx);
      const known = await knownDefinitions(tx, workspaceId);
      const before = found(known.find(({ id }) => id === params.id));
      if (before.state === 'deleting') throw refusedIn('is being deleted');
      const earlier = definitionOf(before);
      const definition = changedDefinition(earlier, body);
      await mustRefer(tx, { workspaceId, definition, before, known });
      const { name, destinations = [] } = definition;
      await updateDefinition(tx, change, { workspaceId, id: before.id }, { name, destinations });
      const isComputedAnew = !isDeepStrictEqual(bodyOf(definition), bodyOf(earlier));
      if (isComputedAnew) {
        if (before.versions.some(({ state }) => state !== 'live'))
          throw refusedIn('is being computed: what it computes can be changed once it is live');
        await addVersion(tx, change, { workspaceId, number: before.number, definition });
      }
      // Not what it compares with: values of people's traits may be among it, and the audit log is append-only.
      const details = { name, destinations, changed: Object.keys(body), isComputedAnew };
      await audit('definition.changed', before.id, { details });
      return readDefinition(request, before.id);
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/definitions/:id',
    summary: 'Deletes an audience or computed trait, and says whether its members are told that they left',
    query: DeleteDefinitionQuery,
    answer: Definition,
    status: 202,
    ...WRITE,
    async handle(request) {
      const { tx, actor, params, query, audit } = request;
      const { workspaceId } = actor;
      const change = await changeDefinitions(tx);
      const known = await knownDefinitions(tx, workspaceId);
      const { id, kind, key, name, state } = found(known.find((each) => each.id === params.id));
      const askers = askersOf(id, known);
      if (askers.length > 0) throw stillUsed(askers);
      // A second request does not change how the members go: some may be gone already.
      if (state !== 'deleting') {
        await deleteDefinition(tx, change, { workspaceId, id }, query.members);
        await audit('definition.deleted', id, { details: { kind, key, name, members: query.members } });
      }
      return readDefinition(request, id);
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/definitions/:id/resync',
    summary: 'Tells its destinations, or one of them, every member again',
    body: ResyncDefinition,
    answer: Definition,
    status: 202,
    ...WRITE,
    async handle(request) {
      const { tx, actor, params, body, audit } = request;
      const { workspaceId } = actor;
      const change = await changeDefinitions(tx);
      const { id, state, destinations } = found(await findDefinition(tx, workspaceId, params.id));
      if (state !== 'live') throw refusedIn(`is ${state}: its members are told once it is live`);
      const { destinationId } = body;
      if (destinationId !== undefined && !destinations.includes(destinationId))
        throw new ApiProblem('invalid_request', [
          { path: '/destinationId', message: 'is not one of its destinations' },
        ]);
      const wanted = destinationId === undefined ? destinations : [destinationId];
      await askResync(tx, change, { workspaceId, id }, wanted);
      await audit('definition.resynced', id, { details: { destinations: wanted } });
      return readDefinition(request, id);
    },
  }),
];

async function readDefinition({ tx, actor: { workspaceId } }: ApiRequest, id: string) {
  const row = found(await findDefinition(tx, workspaceId, id));
  return found((await toDefinitions(tx, workspaceId, await withVersions(tx, [row])))[0]);
}

type Addition = {
  workspaceId: string;
  number: number;
  definition: DefinitionBody;
};

async function addVersion(tx: Tx, change: number, { workspaceId, number, definition }: Addition): Promise<void> {
  const inUse = await measuresInUse(tx, workspaceId);
  const measures = assignSlots(definition, inUse, await nextMeasureSlot(tx, workspaceId));
  await insertVersion(tx, change, { workspaceId, definition: number, body: bodyOf(definition), measures });
}

async function keyTaken(tx: Tx, workspaceId: string, key: string): Promise<ApiProblem> {
  const holder = await holderOfKey(tx, workspaceId, key);
  const who = holder === undefined ? 'another definition' : `"${holder.name}" (${holder.id})`;
  const verb = holder?.state === 'deleted' ? 'had' : 'has';
  const why = holder?.state === 'deleted' ? ': receivers may still hold its values, so a key is never used again' : '';
  return new ApiProblem('conflict', [{ path: '/name', message: `makes the key ${key}, which ${who} ${verb}${why}` }]);
}

function stillUsed(askers: readonly KnownDefinition[]): ApiProblem {
  return new ApiProblem(
    'still_used',
    askers.map(({ id, name }) => ({ path: '', message: `"${name}" (${id}) asks for this audience` })),
  );
}

function refusedIn(message: string): ApiProblem {
  return new ApiProblem('wrong_state', [{ path: '', message }]);
}
