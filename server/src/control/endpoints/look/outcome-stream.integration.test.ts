import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { OutcomeEntry } from '../../../domain/outcome.ts';
import { writeOutcomes } from '../../../record/write-outcomes.ts';
import { addToken, addWorkspace, startTestControl, type TestControl } from '../../../../testing/control.ts';
import { attempted } from '../../../../testing/outcomes.ts';
import { until } from '../../../../testing/until.ts';

type Line = { kind: string; cursor: string; deliveryId?: string; code?: string };
type Place = { workspaceId: string; token: string };

const opened = new AsyncDisposableStack();
let control: TestControl;
let told = 0;

before(async () => {
  control = opened.use(await startTestControl());
});
after(() => opened.disposeAsync());

async function addPlace(): Promise<Place> {
  const workspaceId = await addWorkspace(control.store);
  return { workspaceId, token: await addToken(control.store, workspaceId, { role: 'viewer' }) };
}

const needs = { sample: 1, rows: 1, recordsFrom: '2000-01-01', knownPartitions: new Set<string>() };

/** Records so many deliveries in one transaction; returns their ids. */
async function record({ workspaceId }: Place, count: number, bytes = 0): Promise<string[]> {
  const entries = Array.from({ length: count }, (): OutcomeEntry => {
    const name = 'n'.repeat(bytes);
    return { ...attempted(1, 'delivered', 200), workspaceId, deliveryId: `dlv_${(told += 1)}`, name };
  });
  await control.store.asSystem((tx) => writeOutcomes(tx, entries, needs));
  return entries.map(({ deliveryId }) => deliveryId);
}

function get({ token }: Place, cursor?: string, signal?: AbortSignal): Promise<Response> {
  const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
  return fetch(`${control.url}/api/v1/outcomes/stream${query}`, {
    headers: { Authorization: `Bearer ${token}` },
    ...(signal === undefined ? {} : { signal }),
  });
}

/** A program that follows the outcomes and has heard that the stream is open. */
async function follow(place: Place, cursor?: string) {
  const life = new AbortController();
  const answer = await get(place, cursor, life.signal);
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/x-ndjson; charset=utf-8']);
  const lines: Line[] = [];
  const reading = read(answer, lines).catch(() => undefined);
  await until(() => lines.length > 0);
  return {
    lines,
    ids: () => lines.flatMap(({ deliveryId }) => deliveryId ?? []),
    ended: reading,
    async [Symbol.asyncDispose]() {
      life.abort();
      await reading;
    },
  };
}

async function read(answer: Response, lines: Line[]): Promise<void> {
  let rest = '';
  for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts.map((part) => JSON.parse(part) as Line).filter(({ kind }) => kind !== 'heartbeat'));
  }
}

const refusal = async (place: Place, cursor: string) => {
  const answer = await get(place, cursor);
  return [answer.status, ((await answer.json()) as { code: string }).code];
};
const run = (sql: string) => control.postgres.run(sql);

suite('outcomes as they happen', () => {
  test('are the next ones of the own workspace, without contents and without people', async () => {
    const place = await addPlace();
    const other = await addPlace();
    await record(place, 1);
    await using reader = await follow(place);
    await using _ = await follow(other);
    await record(other, 2);
    const ids = await record(place, 2);
    await until(() => reader.lines.length === 3);
    assert.deepEqual(reader.ids(), ids);
    const { cursor, ...line } = reader.lines[1] ?? { cursor: '' };
    assert.ok(cursor.length > 10);
    const { at, receivedAt } = attempted(1, 'delivered', 200);
    assert.deepEqual(line, {
      kind: 'attempt',
      at: new Date(at).toISOString(),
      deliveryId: ids[0],
      messageId: 'm-1',
      type: 'track',
      name: '',
      sourceId: 'src_1',
      destinationId: 'dst_1',
      receivedAt,
      attempt: 1,
      outcome: 'delivered',
      answers: [{ status: 200, totalMs: 12.5 }],
    });
  });

  test('go on after any line, in the order in which they were recorded', async () => {
    const place = await addPlace();
    await using whole = await follow(place);
    const ids = [...(await record(place, 3)), ...(await record(place, 700)), ...(await record(place, 2))];
    await until(() => whole.lines.length === 1 + ids.length);
    assert.deepEqual(whole.ids(), ids);
    for (const at of [0, 1, 3, 4, 502, 503, 504, 703, 705]) {
      await using rest = await follow(place, whole.lines[at]?.cursor);
      await until(() => rest.lines.length === 1 + ids.length - at);
      assert.deepEqual(rest.ids(), ids.slice(at));
    }
  });

  test('miss none while several recorders write and the reader comes back again and again', async () => {
    const place = await addPlace();
    const seen: string[] = [];
    let { cursor } = { cursor: '' };
    {
      await using first = await follow(place);
      cursor = first.lines[0]?.cursor ?? '';
    }
    const writing = Promise.all(
      Array.from({ length: 4 }, async () => {
        const ids: string[] = [];
        for (let round = 0; round < 15; round += 1) ids.push(...(await record(place, 20)));
        return ids;
      }),
    );
    const life = { isOver: false };
    const written = writing.finally(() => (life.isOver = true));
    const all = 4 * 15 * 20;
    while (!life.isOver || seen.length < all) {
      await using reader = await follow(place, cursor);
      await until(() => reader.lines.length > 1);
      seen.push(...reader.ids());
      cursor = reader.lines.at(-1)?.cursor ?? cursor;
    }
    assert.deepEqual(seen.toSorted(), (await written).flat().toSorted());
  });

  test('that are missing after a cursor are told of: dropped, not written, or of a database that was restored', async () => {
    const place = await addPlace();
    const cursors: string[] = [];
    for (const count of [2, 2]) {
      await using reader = await follow(place);
      await record(place, count);
      await until(() => reader.lines.length === 1 + count);
      cursors.push(...reader.lines.map(({ cursor }) => cursor));
    }
    const [first = '', , , fourth = '', , last = ''] = cursors;
    const own = `workspace_id = '${place.workspaceId}'`;
    assert.deepEqual(await refusal(place, 'x'), [400, 'invalid_cursor']);
    const ahead = last.replace('-4-', '-9-');
    assert.deepEqual(await refusal(place, ahead), [410, 'cursor_gone']);
    const restored = last.replace(/.{12}$/, 'ffffffffffff');
    assert.deepEqual(await refusal(place, restored), [410, 'cursor_gone']);
    run(`DELETE FROM outcome_chunks WHERE ${own} AND first_position = 1`);
    assert.deepEqual(await refusal(place, first), [410, 'cursor_gone']);
    {
      await using rest = await follow(place, fourth);
      await until(() => rest.lines.length === 3);
    }
    run(`DELETE FROM outcome_chunks WHERE ${own}`);
    assert.equal((await get(place, restored)).status, 410);
    run(`UPDATE outcome_exports SET wanted_until = now() WHERE ${own}`);
    await record(place, 1);
    assert.deepEqual(await refusal(place, last), [410, 'cursor_gone']);
    await using anew = await follow(place);
    const ids = await record(place, 1);
    await until(() => anew.lines.length === 2);
    assert.deepEqual(anew.ids(), ids);
  });

  test('end for an open reader when some of them are gone', async () => {
    const place = await addPlace();
    await using reader = await follow(place);
    run(`UPDATE outcome_exports SET position = 5 WHERE workspace_id = '${place.workspaceId}'`);
    await record(place, 1);
    await reader.ended;
    assert.deepEqual([reader.lines.at(-1)?.kind, reader.lines.at(-1)?.code], ['end', 'cursor_gone']);
  });

  test('end for an open reader when the database is another one, which was behind', async () => {
    const place = await addPlace();
    await using reader = await follow(place);
    await record(place, 2);
    await until(() => reader.lines.length === 3);
    run(`UPDATE outcome_chunks SET tag = 'ffffffffffff' WHERE workspace_id = '${place.workspaceId}'`);
    await record(place, 1);
    await reader.ended;
    assert.deepEqual([reader.lines.length, reader.lines.at(-1)?.code], [4, 'cursor_gone']);
  });

  test('begin when the recorders at work have ended, which did not know that somebody reads', async () => {
    const place = await addPlace();
    const { workspaceId } = place;
    const entry: OutcomeEntry = { ...attempted(1, 'delivered', 200), workspaceId, deliveryId: `dlv_${(told += 1)}` };
    const { promise: isOver, resolve: over } = Promise.withResolvers<void>();
    const { promise: isWritten, resolve: written } = Promise.withResolvers<void>();
    const recording = control.store.asSystem(async (tx) => {
      await writeOutcomes(tx, [entry], needs);
      written();
      await isOver;
    });
    await isWritten;
    const reader = { isOpen: false };
    const opening = follow(place).finally(() => (reader.isOpen = true));
    const waiting = `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    await until(() => Number(run(waiting)) > 0);
    assert.equal(reader.isOpen, false);
    over();
    await recording;
    await using _ = await opening;
  });

  test('of a reader that does not read cost it alone: others get theirs, and it gets all of its own later', async () => {
    const place = await addPlace();
    const slow = await get(place);
    await using quick = await follow(place);
    const ids: string[] = [];
    for (let round = 0; round < 12; round += 1) ids.push(...(await record(place, 500, 2_000)));
    await until(() => quick.lines.length === 1 + ids.length);
    const lines: Line[] = [];
    void read(slow, lines).catch(() => undefined);
    await until(() => lines.length === 1 + ids.length);
    assert.deepEqual(
      lines.slice(1).map(({ deliveryId }) => deliveryId),
      ids,
    );
    await slow.body?.cancel().catch(() => undefined);
  });

  test('have four readers in a workspace and process, and live tails are counted apart', async () => {
    const place = await addPlace();
    const other = await addPlace();
    await using readers = new AsyncDisposableStack();
    for (let count = 0; count < 4; count += 1) readers.use(await follow(place));
    const fifth = await get(place);
    assert.deepEqual([fifth.status, ((await fifth.json()) as Line).code], [429, 'too_many_streams']);
    readers.use(await follow(other));
  });
});
