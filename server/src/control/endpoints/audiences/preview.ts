/** How large a definition would be that is not stored yet: over a sample of the profiles, or over all of them. */
import { hash } from 'node:crypto';
import { type Definition, referenceProblems } from '@millrace/contract/audiences';
import { DefinitionPreview, PreviewDefinition } from '@millrace/contract/control';
import { estimateSize } from '../../../compute/profiles/estimate-size.ts';
import { knownDefinitions } from '../../../store/definitions/definition-views.ts';
import { pageOfProfiles, sampleProfiles } from '../../../store/compute/read-profiles.ts';
import { countProfiles } from '../../../store/compute/sizes.ts';
import { readWorkspaceWork } from '../../../store/definitions/life-endings.ts';
import { measuresInUse } from '../../../store/definitions/lifecycle.ts';
import type { Tx } from '../../../store/open-store.ts';
import { collectedSourceIds } from '../../../store/sources.ts';
import { isAllowed } from '../../access/permissions.ts';
import { engineRoute, type Route } from '../../http/route.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { type Candidate, type CandidateFacts, compileCandidate } from './candidate.ts';
import { definitionOf, definitionProblems } from './checked-definition.ts';
import { completenessOfAsked } from './completeness.ts';
import { type CandidateCount, countMembers, type Counting, noCount } from './count-candidate.ts';
import { idOf } from './members.ts';
import { foldedFromEvents } from './preview-from-events.ts';
import { type PreviewSources, readPast, type PreviewRequest } from './preview-events.ts';
import { timeOf } from './profiles.ts';

/** An interval of at most ±1 % of all profiles, in about 0.3 s. */
const SAMPLE = 10_000;
const PORTION = 5_000;
/** For `exact`. */
const MAX_MS = 20_000;

export const previewDefinitionRoutes: Route[] = [
  engineRoute({
    method: 'POST',
    url: '/api/v1/definitions/preview',
    summary: 'The size that a definition would have, with an interval and up to ten members, without storing it',
    body: PreviewDefinition,
    check: (body) => (isDefinitionIn(body) ? definitionProblems(body.definition, '/definition') : []),
    answer: DefinitionPreview,
    status: 200,
    permission: 'audiences:read',
    // Even the size alone would tell of traits: a definition can ask for any of them.
    payloads: {},
    async ask({ actor, body, inWorkspace }, { side, now }) {
      const startedMs = performance.now();
      const { workspaceId } = actor;
      const { definition, exact = false } = body;
      const facts = await inWorkspace((tx) => readFacts(tx, workspaceId, definition));
      const at = now().getTime();
      const candidate = compileCandidate(definition, { ...facts, now: at });
      const asking = { inWorkspace, reader: side.events };
      const own = { workspaceId, sourceIds: ownSources(definition, facts.sourceIds) };
      const counted =
        facts.profiles === 0
          ? await countInEvents(candidate, { ...own, now: at }, asking)
          : await countInProfiles(candidate, { ...own, now: at, exact, profiles: facts.profiles }, asking);
      const { count } = counted;
      const asked = completenessOfAsked(definition, facts.known).completeFrom?.getTime();
      const from = counted.from === undefined ? asked : Math.max(counted.from, asked ?? 0);
      const samples = count.samples.map(({ profile, value }) => ({ ...idOf(profile), value }));
      return {
        ...estimateSize({ profiles: counted.profiles, sampled: count.sampled, members: count.members }),
        profiles: counted.profiles,
        sampled: count.sampled,
        completeFrom: timeOf(from),
        ...(isAllowed('profiles:read', actor) ? { samples } : {}),
        tookMs: Math.round(performance.now() - startedMs),
      };
    },
  }),
];

function isDefinitionIn(body: unknown): body is { definition: unknown } {
  return typeof body === 'object' && body !== null && 'definition' in body;
}

type Facts = Omit<CandidateFacts, 'now'> & { profiles: number };

async function readFacts(tx: Tx, workspaceId: string, definition: Definition): Promise<Facts> {
  const known = await knownDefinitions(tx, workspaceId);
  const others = new Map(known.map((each) => [each.id, definitionOf(each)]));
  const problems = referenceProblems(definition, undefined, others);
  if (problems.length > 0)
    throw new ApiProblem(
      'invalid_request',
      problems.map(({ path, message }) => ({ path: `/definition${path}`, message })),
    );
  return {
    known,
    inUse: await measuresInUse(tx, workspaceId),
    profilesFrom: (await readWorkspaceWork(tx, workspaceId))?.completeFrom ?? undefined,
    profiles: await countProfiles(tx, workspaceId),
    sourceIds: await collectedSourceIds(tx, workspaceId),
  };
}

/** Never a source of another workspace, whatever the definition names. */
function ownSources({ sources }: Definition, all: readonly string[]): readonly string[] {
  return sources === undefined ? all : all.filter((id) => sources.includes(id));
}

type Counted = { count: CandidateCount; profiles: number; from: number | undefined };
type Asking = PreviewRequest & { reader: Parameters<typeof readPast>[2]['reader'] };
type Whole = PreviewSources & { now: number; exact: boolean; profiles: number };

async function countInProfiles(candidate: Candidate, whole: Whole, asking: Asking): Promise<Counted> {
  const past = await readPast(candidate, whole, asking);
  const counting = { candidate, events: past.byProfile, now: whole.now };
  const { count, isWhole } = await lookAt(counting, whole, asking);
  return {
    count,
    // The number of profiles is a sum of many readers' counts; those that were looked at one by one are certain.
    profiles: isWhole ? count.sampled : Math.max(whole.profiles, count.sampled + 1),
    from: candidate.completeFrom(past.from),
  };
}

async function lookAt(counting: Counting, { workspaceId, exact, profiles }: Whole, { inWorkspace }: PreviewRequest) {
  const count = noCount();
  const share = SAMPLE / profiles;
  if (!exact && share < 1) {
    const range = { share, start: startOf(counting) };
    await countMembers(count, await inWorkspace((tx) => sampleProfiles(tx, workspaceId, range)), counting);
    return { count, isWhole: false };
  }
  const endMs = performance.now() + MAX_MS;
  let after: string | undefined;
  while (performance.now() < endMs) {
    const page = await inWorkspace((tx) => pageOfProfiles(tx, workspaceId, { after, limit: PORTION }));
    await countMembers(count, page, counting);
    after = page.at(-1)?.key;
    if (page.length < PORTION) return { count, isWhole: true };
  }
  return { count, isWhole: false };
}

/** The same definition always looks at the same sample, so that its size does not jump; another one looks elsewhere. */
function startOf({ candidate }: Counting): number {
  const text = JSON.stringify(candidate.definition);
  return Number.parseInt(hash('sha256', text).slice(0, 12), 16) / 2 ** 48;
}

/** Nothing is kept of a workspace before its first definition: the stored events are all there is. */
async function countInEvents(
  candidate: Candidate,
  { workspaceId, sourceIds, now }: PreviewSources & { now: number },
  asking: Asking,
): Promise<Counted> {
  const { profiles, from } = await foldedFromEvents(candidate, { workspaceId, sourceIds }, asking);
  const count = noCount();
  await countMembers(count, profiles, { candidate, events: new Map(), now });
  return { count, profiles: profiles.length, from: candidate.completeFrom(from, from) };
}
