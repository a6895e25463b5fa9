import type { Condition, Definition } from '@millrace/contract/audiences';
import type { DefinitionPreview } from '@millrace/contract/control';
import { type Dice, openDice } from '../../../server/testing/compute/dice.ts';
import { timesOf } from '../replay/watch-other.ts';
import type { Installation } from './installation.ts';

const DEFINITIONS = 100;

export type Previews = { definitions: number; inside: number; p50Ms: number; p99Ms: number; slowestMs: number };

type Audience = { id: string; number: number; when: Condition };
type Wanted = { when: Condition; size: string };

/**
 * Asks for the size of random definitions over the profiles as they are. The true size follows from memberships: half of the definitions
 * are live ones, the other half combine two of them.
 */
export async function measurePreviews(stack: Installation): Promise<Previews> {
  const dice = openDice(5);
  const audiences = await liveAudiences(stack);
  const tookMs: number[] = [];
  let inside = 0;
  for (let nth = 0; nth < DEFINITIONS; nth += 1) {
    const { when, size } = wantedOf(dice, audiences);
    const definition: Definition = { kind: 'audience', name: `Preview ${nth}`, when };
    const startedAt = performance.now();
    const answer = await stack.get<DefinitionPreview>('POST', '/definitions/preview', { definition });
    tookMs.push(performance.now() - startedAt);
    const [row] = await stack.store.asSystem((tx) => tx.query<{ size: number }>(`SELECT ${size} AS size`));
    if (row !== undefined && row.size >= answer.low && row.size <= answer.high) inside += 1;
  }
  const { p50Ms, p99Ms, maxMs } = timesOf(tookMs);
  return { definitions: DEFINITIONS, inside, p50Ms, p99Ms, slowestMs: maxMs };
}

async function liveAudiences({ store }: Installation): Promise<Audience[]> {
  const sql = `SELECT d.id, d.number, v.body->'when' AS when FROM definitions d JOIN definition_versions v ON v.definition = d.number
    WHERE d.kind = 'audience' AND v.state = 'live' ORDER BY d.number`;
  return store.asSystem((tx) => tx.query<Audience>(sql));
}

function wantedOf(dice: Dice, audiences: readonly Audience[]): Wanted {
  const [one, other] = dice.shuffle(audiences);
  if (one === undefined || other === undefined) throw new Error('there are fewer than two audiences');
  const [members, others] = [membersOf(one), membersOf(other)];
  const parts = [{ audience: one.id }, { audience: other.id }];
  return dice.pick<Wanted>([
    { when: one.when, size: sizeOf(members) },
    { when: { all: [one.when] }, size: sizeOf(members) },
    { when: { all: parts }, size: sizeOf(`${members} INTERSECT ${others}`) },
    { when: { any: parts }, size: sizeOf(`${members} UNION ${others}`) },
  ]);
}

function membersOf({ number }: Audience): string {
  return `SELECT profile_key FROM memberships WHERE definition = ${number}`;
}

function sizeOf(query: string): string {
  return `(SELECT count(*)::int FROM (${query}) AS members)`;
}
