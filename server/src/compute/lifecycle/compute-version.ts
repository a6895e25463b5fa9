/**
 * A version from its creation to `live`:
 *
 *   start   the reader of each stream notes from which sequence it folds the version
 *   events  what was stored before is folded into measures that have no other past
 *   scan    the version is live: readers evaluate it for profiles with events, the scan for all profiles
 *
 * A measure that a live version has already brings its past along; counts of an event name get it from the tiles when a profile is opened
 * next. So most versions read no stored event.
 */
import { audiencesIn, type Definition } from '@millrace/contract/audiences';
import { foldingStarts } from '../../store/definitions/definition-changes.ts';
import { readWorkspaceWork } from '../../store/definitions/life-endings.ts';
import {
  areUnready,
  beginComputing,
  endScan,
  goLive,
  markPhase,
  readVersionWork,
  sourcesEver,
  type VersionPhase,
  type VersionWork,
} from '../../store/definitions/life-jobs.ts';
import type { Tx } from '../../store/open-store.ts';
import { isInTiles } from '../fold/backfill.ts';
import { needsOf } from '../fold/measure-need.ts';
import type { VersionName } from '../profiles/profile-store.ts';
import { backfillEvents } from './backfill-events.ts';
import { type JobNeeds, JobEnded, JobWaiting, untilAll, untilReadersKnow } from './life-needs.ts';
import { scanProfiles } from './scan-profiles.ts';
import { wholeMeasures } from '../fold/whole-measures.ts';

export async function computeVersion(name: VersionName, needs: JobNeeds): Promise<void> {
  for (;;) {
    const { phase } = await needs.store.asSystem((tx) => workOf(tx, name));
    if (phase === 'start') await begin(name, needs);
    else if (phase === 'events') await backfill(name, needs);
    else if (phase === 'scan') return scan(name, needs);
    else return;
  }
}

/** With a phase: the job is over when it is another one. */
async function workOf(tx: Tx, name: VersionName, phase?: VersionPhase): Promise<VersionWork> {
  const work = await readVersionWork(tx, name);
  if (work === undefined || (phase !== undefined && work.phase !== phase)) throw new JobEnded('the version moved on');
  return work;
}

async function begin(name: VersionName, needs: JobNeeds): Promise<void> {
  await untilAll(needs, async (names) => {
    const starts = await needs.store.asSystem(async (tx) => {
      await workOf(tx, name, 'start');
      return foldingStarts(tx, name.definition, name.version);
    });
    const begun = new Set(starts.map(({ stream }) => stream));
    return names.every((stream) => begun.has(stream));
  });
  await needs.step(async (_, sql) => {
    await workOf(sql, name, 'start');
    await beginComputing(sql, name);
  });
  needs.changedDefinitions();
}

async function backfill(name: VersionName, needs: JobNeeds): Promise<void> {
  const { workspaceId, afterKey, body, measures } = await needs.store.asSystem((tx) => workOf(tx, name, 'events'));
  const definition = body as Definition;
  const slots = new Set(
    needsOf(definition).flatMap((need) => {
      const stored = measures.find(({ id }) => id === need.id);
      return stored === undefined || stored.past !== undefined || isInTiles(need) ? [] : stored.slot;
    }),
  );
  if (slots.size > 0) await backfillEvents({ ...name, workspaceId, after: afterKey ?? undefined, slots }, needs);
  if (await asksTooEarly(workspaceId, definition, needs))
    throw new JobWaiting('an audience that it asks for is not ready');
  await needs.step(async (_, sql) => {
    const work = await workOf(sql, name, 'events');
    const sources = await sourcesEver(sql, workspaceId);
    const workspace = await readWorkspaceWork(sql, workspaceId);
    const facts = { measures: work.measures, sources, now: needs.side.now() };
    const from = { events: work.eventsFrom ?? undefined, profiles: workspace?.completeFrom ?? undefined };
    await goLive(sql, name, (change) => wholeMeasures(definition, { ...facts, from, change }));
  });
  needs.changedDefinitions();
}

/** An audience that is not ready has no members yet. */
function asksTooEarly(workspaceId: string, definition: Definition, needs: JobNeeds): Promise<boolean> {
  const asked = definition.kind === 'audience' ? audiencesIn(definition.when) : [];
  return needs.store.asSystem((tx) => areUnready(tx, workspaceId, asked));
}

async function scan(name: VersionName, needs: JobNeeds): Promise<void> {
  const { workspaceId, revised, afterKey } = await needs.store.asSystem((tx) => workOf(tx, name, 'scan'));
  // A reader that does not know the version yet could make a profile that the scan has passed already.
  await untilReadersKnow(revised, needs);
  await scanProfiles({ ...name, workspaceId, after: afterKey ?? undefined }, needs);
  await needs.step(async (_, sql) => {
    await workOf(sql, name, 'scan');
    await markPhase(sql, name, { phase: 'scan', done: 0, total: 0 });
    await endScan(sql, name);
  });
  needs.changedDefinitions();
}
