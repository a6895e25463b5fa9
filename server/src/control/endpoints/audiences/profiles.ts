import { Profile, ProfileQuery } from '@millrace/contract/control';
import { explainValue } from '../../../compute/fold/explain.ts';
import { decodeState, groupsOf, type ProfileState, traitsOf } from '../../../compute/state/profile-state.ts';
import { type KnownDefinition, knownDefinitions } from '../../../store/definitions/definition-views.ts';
import { membershipsOf } from '../../../store/compute/memberships.ts';
import { findProfile } from '../../../store/compute/read-profiles.ts';
import { type Route, route } from '../../http/route.ts';
import { found } from '../../problems/problems.ts';
import { livePlan } from './live-plan.ts';

export const profileRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/profiles/:userId',
    summary: 'A profile: its ids, traits, groups, audiences and computed traits, and when each of these ends',
    query: ProfileQuery,
    answer: Profile,
    permission: 'profiles:read',
    payloads: {},
    status: 200,
    async handle({ tx, actor: { workspaceId }, params, query }, { now }) {
      const { kind: asked = 'user' } = query;
      const profile = found(await findProfile(tx, { workspaceId, kind: asked, id: params.userId }));
      const known = await knownDefinitions(tx, workspaceId);
      const byNumber = new Map(known.map((each) => [each.number, each]));
      const plan = livePlan(known);
      const state = decodeState(profile.state);
      const held = state.held.map(({ definition }) => definition).filter((number) => byNumber.has(number));
      const memberships = await membershipsOf(tx, profile.key, held);
      const at = now().getTime();
      const { kind, id, links } = profile;
      return {
        kind,
        id,
        links,
        ...toFacts(state),
        memberships: memberships.map(({ definition, value, sequence, since }) => {
          const endsAt = explainValue(profile, plan, definition, at)?.changesAt;
          return {
            ...aboutDefinition(found(byNumber.get(definition))),
            value,
            sequence,
            since,
            endsAt: timeOf(endsAt),
          };
        }),
      };
    },
  }),
];

export function aboutDefinition({ id, kind, key, name }: KnownDefinition) {
  return { definitionId: id, kind, key, name };
}

export function timeOf(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

function toFacts(state: ProfileState) {
  const traits = [...traitsOf(state)].map(([name, { value }]) => [name, value] as const);
  const groups = [...groupsOf(state)].toSorted(([, a], [, b]) => b - a);
  const { list } = state.tiles;
  return {
    // Null takes a trait away.
    traits: Object.fromEntries(traits.filter(([, value]) => value !== null)),
    groups: groups.map(([groupId, at]) => ({ groupId, at: new Date(at).toISOString() })),
    firstSeenAt: timeOf(list.length === 0 ? undefined : Math.min(...list.map(({ first }) => first))),
    lastSeenAt: timeOf(list.length === 0 ? undefined : Math.max(...list.map(({ last }) => last))),
  };
}
