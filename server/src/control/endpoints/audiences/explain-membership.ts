/** Why a profile has a value: its leaves with the events that they count, its history, and the calls that told of it. */
import type { Definition, Leaf } from '@millrace/contract/audiences';
import { MembershipExplanation, ProfileQuery } from '@millrace/contract/control';
import { explainValue, lastEventsOf, type ValueExplanation } from '../../../compute/fold/explain.ts';
import type { SourceEvent } from '../../../compute/fold/incoming-event.ts';
import { type KnownDefinition, knownDefinitions } from '../../../store/definitions/definition-views.ts';
import { listChangesOf, type MembershipChange } from '../../../store/compute/memberships.ts';
import { findProfile, type LinkedProfile } from '../../../store/compute/read-profiles.ts';
import type { Tx } from '../../../store/open-store.ts';
import { collectedSourceIds } from '../../../store/sources.ts';
import { askEngine } from '../../http/ask-engine.ts';
import { type EngineRequest, engineRoute, type Route } from '../../http/route.ts';
import { readShown } from '../../jobs/hide-erased.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { definitionOf } from './checked-definition.ts';
import { livePlan } from './live-plan.ts';
import { toChange } from './members.ts';
import { aboutDefinition, timeOf } from './profiles.ts';
import { type ToldCall, readIdentifies } from './read-identifies.ts';
import { scanEventsBack } from './scan-events.ts';
import { tellThreshold } from './tell-threshold.ts';

/** Of one explanation. */
const SCAN = { maxMs: 1_500, maxRequests: 2_000, most: 2_000 };
const SHOWN_CHANGES = 10;
const SHOWN_EVENTS = 3;

export const explainMembershipRoutes: Route[] = [
  engineRoute({
    method: 'GET',
    url: '/api/v1/profiles/:userId/memberships/:definitionId/explain',
    summary: 'Why a profile is in an audience, or has a value of a computed trait, and when that ends',
    query: ProfileQuery,
    answer: MembershipExplanation,
    permission: 'profiles:read',
    alsoNeeds: 'audiences:read',
    payloads: {},
    status: 200,
    async ask(request, { side, now }) {
      const { actor, params, query, inWorkspace } = request;
      const { workspaceId } = actor;
      const at = now().getTime();
      const about = await inWorkspace((tx) =>
        readFacts(tx, {
          workspaceId,
          kind: query.kind ?? 'user',
          id: params.userId,
          definitionId: params.definitionId,
          at,
        }),
      );
      const { events, from } = await askEngine(eventsOf(about, request, side.events));
      const { explanation, known, definition } = about;
      return {
        ...aboutDefinition(known),
        value: explanation.value,
        sequence: explanation.sequence,
        changesAt: timeOf(explanation.changesAt),
        isCapped: explanation.isCapped,
        leaves: leavesOf(definition, explanation).map(({ leaf, changesAt, ...rest }) => ({
          ...rest,
          leaf,
          threshold: tellThreshold(leaf),
          changesAt: timeOf(changesAt),
          messageIds: lastEventsOf(leaf, definition, events, { now: at, most: SHOWN_EVENTS }).map(
            ({ messageId }) => messageId,
          ),
        })),
        eventsFrom: timeOf(from),
        history: about.changes.map(toChange),
        identifies: about.identifies,
      };
    },
  }),
];

type Asked = { workspaceId: string; kind: 'user' | 'anonymous'; id: string; definitionId: string; at: number };
type Facts = {
  workspaceId: string;
  profile: LinkedProfile;
  known: KnownDefinition;
  definition: Definition;
  explanation: ValueExplanation;
  changes: MembershipChange[];
  identifies: ToldCall[];
  sourceIds: readonly string[];
};

async function readFacts(tx: Tx, { workspaceId, kind, id, definitionId, at }: Asked): Promise<Facts> {
  const all = await knownDefinitions(tx, workspaceId);
  const known = found(all.find((each) => each.id === definitionId));
  const profile = found(await findProfile(tx, { workspaceId, kind, id }));
  const explanation = explainValue(profile, livePlan(all), known.number, at);
  if (explanation === undefined)
    throw new ApiProblem('wrong_state', [
      { path: '/definitionId', message: `is ${known.state}: it has no members yet` },
    ]);
  const named = { key: profile.key, definition: known.number };
  const changes = await listChangesOf(tx, named, SHOWN_CHANGES);
  const definition = definitionOf(known);
  const identifies = await readIdentifies(tx, { workspaceId, profile, known, changes });
  const sourceIds = definition.sources ?? (await collectedSourceIds(tx, workspaceId));
  return { workspaceId, profile, known, definition, explanation, changes, identifies, sourceIds };
}

/** Of a trait, the events that it looks at are its only leaf. */
function leavesOf(definition: Definition, { value, changesAt, leaves }: ValueExplanation) {
  if (definition.kind === 'audience') return leaves.map((each) => ({ ...each, path: `/when${each.path}` }));
  const { type, event, where, window, between } = definition;
  const given = Object.entries({ type, event, where, window, between }).filter(([, each]) => each !== undefined);
  const leaf: Leaf = Object.fromEntries(given);
  return [{ path: '', leaf, value, holds: value !== null, changesAt }];
}

/** Events of the profile under all its ids, newest first, from before the streams were trimmed. */
async function eventsOf(
  { workspaceId, profile, sourceIds }: Facts,
  { inWorkspace }: Pick<EngineRequest, 'inWorkspace'>,
  reader: Parameters<typeof scanEventsBack>[0],
): Promise<{ events: SourceEvent[]; from: number | undefined }> {
  const ids = [{ kind: profile.kind, id: profile.id }, ...profile.links];
  const idsOf = (kind: 'user' | 'anonymous') => new Set(ids.filter((each) => each.kind === kind).map(({ id }) => id));
  const [users, devices] = [idsOf('user'), idsOf('anonymous')];
  const scanned = await scanEventsBack(reader, {
    workspaceId,
    sourceIds,
    since: undefined,
    ...SCAN,
    isWanted: ({ userId, anonymousId }) =>
      userId === undefined ? anonymousId !== undefined && devices.has(anonymousId) : users.has(userId),
  });
  const events: SourceEvent[] = [];
  for (const [sourceId, own] of Map.groupBy(scanned.events, (each) => each.sourceId)) {
    const all = own.map(({ event }) => event);
    const isShown = await inWorkspace((tx) => readShown(tx, { workspaceId, sourceId }, all));
    events.push(...own.filter(({ event }) => isShown(event)));
  }
  return { events, from: scanned.from };
}
