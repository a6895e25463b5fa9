import type { ComputedValue } from '../../../server/src/compute/profiles/profile-store.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { spend } from '../wait-until.ts';
import type { AudienceLoad } from './audience-load.ts';
import { expectTransitions } from './audience-plan.ts';
import { type Change, judgeTransitions, type Membership } from './judge-transitions.ts';
import type { ComputeScene } from './open-compute-scene.ts';

const LOOK_AGAIN_MS = 500;
/** Nothing more may come after everything is as expected. */
const QUIET_MS = 1_000;

/** Resolves with the verdict once everything is as expected, or when that takes too long. The load has ended. */
export async function finishTransitions(
  scene: ComputeScene,
  load: AudienceLoad,
  { run, visitsEndAt, withinMs }: { run: FaultRun; visitsEndAt: number; withinMs: number },
): Promise<Findings> {
  const expected = expectTransitions(load.calls.values());
  const startedAt = performance.now();
  const judge = async () => {
    const { changes, memberships } = await readTables(scene);
    return judgeTransitions({ expected, changes, memberships, heard: scene.receiver.heard, visitsEndAt });
  };
  let found = await judge();
  while (found.failures.length > 0 && performance.now() - startedAt < withinMs) {
    await spend(LOOK_AGAIN_MS);
    found = await judge();
  }
  const settledMs = Math.round(performance.now() - startedAt);
  await spend(QUIET_MS);
  found = await judge();
  const answers = Object.fromEntries(load.answers);
  run.say(`settled after ${settledMs} ms: ${JSON.stringify(found.figures)}`);
  return { ...found, figures: { calls: load.calls.size, answers, settledMs, ...found.figures } };
}

type Row = { definition: number; id: string; sequence: number; value: string | null };

async function readTables({ store, keys }: ComputeScene): Promise<{ changes: Change[]; memberships: Membership[] }> {
  const pairOf = ({ id, definition }: Row) => `${id} ${keys.get(definition) ?? definition}`;
  const valueOf = ({ value }: Row): ComputedValue => (value === null ? true : (JSON.parse(value) as ComputedValue));
  return store.asSystem(async (tx) => {
    const rowsOf = (table: string) =>
      tx.query<Row>(
        `SELECT t.definition, p.id, t.sequence, t.value FROM ${table} t JOIN profiles p USING (profile_key)`,
      );
    const toChange = (row: Row): Change => ({ pair: pairOf(row), sequence: row.sequence, value: valueOf(row) });
    return {
      changes: (await rowsOf('membership_changes')).map(toChange),
      memberships: (await rowsOf('memberships')).map(toChange),
    };
  });
}
