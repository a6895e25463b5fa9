import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { DestinationMetrics, TargetErrors } from '@millrace/contract/control';
import type { OutcomeAnswer, OutcomeEntry } from '../../../domain/outcome.ts';
import { recordDepths } from '../../../record/record-depths.ts';
import { writeOutcomes } from '../../../record/write-outcomes.ts';
import { addToken, addWorkspace, startTestControl, type TestControl } from '../../../../testing/control.ts';
import { attempted } from '../../../../testing/outcomes.ts';
import { until } from '../../../../testing/until.ts';

const HOUR_MS = 3_600_000;
const GOOD = 'https://good.example/hook';
const BAD = 'https://bad.example/hook';

const opened = new AsyncDisposableStack();
let control: TestControl;
let workspaceId: string;
let token: string;
let destinationId: string;

before(async () => {
  control = opened.use(await startTestControl());
  workspaceId = await addWorkspace(control.store);
  token = await addToken(control.store, workspaceId, { role: 'owner' });
  const { body: source } = await control.ask('POST', '/api/v1/sources', { token, body: { name: 'S' } });
  const settings = { targets: [{ url: GOOD }, { url: BAD }] };
  const body = { sourceId: source['id'], catalog: 'Webhooks', settings };
  destinationId = String((await control.ask('POST', '/api/v1/destinations', { token, body })).body['id']);
});
after(() => opened.disposeAsync());

let made = 0;

/** One attempt of a delivery of its own. */
function attempt(at: number, answers: OutcomeAnswer[], outcome: 'delivered' | 'retry' = 'delivered'): OutcomeEntry {
  made += 1;
  const base = {
    ...attempted(1, outcome, 200),
    workspaceId,
    destinationId,
    receivedAt: new Date(at).toISOString(),
    at,
  };
  return { ...base, deliveryId: `dlv_${made}`, messageId: `m-${made}`, answers } as OutcomeEntry;
}

const answered = (url: string, status: number, totalMs = 10): OutcomeAnswer => ({ url, status, timings: { totalMs } });

async function write(...entries: OutcomeEntry[]): Promise<void> {
  const needs = { sample: 1, rows: 1, recordsFrom: '2000-01-01', knownPartitions: new Set<string>() };
  await control.store.asSystem((tx) => writeOutcomes(tx, entries, needs));
}

async function get<T>(path: string): Promise<T> {
  const answer = await control.ask('GET', `/api/v1/destinations/${destinationId}${path}`, { token });
  assert.equal(answer.status, 200, answer.text);
  return answer.body as T;
}

suite('a destination over time', () => {
  test('shows p50, p95 and p99 of each step, of a hundred attempts at most', async () => {
    const noon = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 5 * HOUR_MS;
    const early = Array.from({ length: 150 }, (_, i) => attempt(noon + i * 1_000, [answered(GOOD, 200, i + 1)]));
    await write(...early, attempt(noon + HOUR_MS, [answered(GOOD, 200, 70)]));
    const { latency, step } = await get<DestinationMetrics>('/metrics');
    assert.equal(step, 3_600);
    assert.deepEqual(
      latency.map(({ at, attempts }) => [Date.parse(at), attempts]),
      [
        [noon, 100],
        [noon + HOUR_MS, 1],
      ],
    );
    const [first, second] = latency;
    assert.ok(first !== undefined && Math.abs(first.p50 - 100.5) < 1 && first.p95 > 140 && first.p99 <= 150);
    assert.deepEqual([second?.p50, second?.p99], [70, 70]);
    const range = `from=${new Date(noon + 30_000).toISOString()}&to=${new Date(noon + 90_000).toISOString()}`;
    const narrow = await get<DestinationMetrics>(`/metrics?step=60&${range}`);
    assert.deepEqual(
      narrow.latency.map(({ attempts }) => attempts),
      [30, 30],
    );
  });

  test('shows how many deliveries waited at most, and nothing where none did', async () => {
    const lane = {
      destinationId,
      workspaceId,
      state: 'failing',
      since: '',
      depth: 7,
      bytes: 1,
      updatedAt: '',
    } as const;
    const gone = { ...lane, destinationId: 'dst_deleted' };
    control.lanes.set(destinationId, lane).set(gone.destinationId, gone);
    const needs = {
      store: control.store,
      lanes: { all: () => control.lanes.values() },
      now: () => new Date(),
      log: control.needs.log,
    };
    await using _ = recordDepths({ ...needs, everyMs: 20 });
    const deepest = async () => (await get<DestinationMetrics>('/metrics')).depth.map(({ deliveries }) => deliveries);
    await until(async () => (await deepest()).includes(7));
    control.lanes.set(destinationId, { ...lane, depth: 4_000 });
    // Beside the seven, not in its place, when a new hour begins just now.
    await until(async () => (await deepest()).includes(4_000));
    control.lanes.set(destinationId, { ...lane, depth: 3 });
    await until(async () => (await deepest()).length > 0);
    assert.ok(Math.max(...(await deepest())) === 4_000, 'the most of the ten minutes stays');
    const old = await get<DestinationMetrics>('/metrics?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z');
    assert.deepEqual([old.depth, old.latency], [[], []]);
  });

  test('is asked with any time that JSON can hold', async () => {
    const times = ['0001-01-01T00:00:00%2B14:00', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'];
    const queries = times.flatMap((time) => [`from=${time}`, `to=${time}`, `from=${time}&to=${time}`]);
    for (const query of queries) {
      const { status } = await control.ask('GET', `/api/v1/destinations/${destinationId}/metrics?${query}`, { token });
      assert.ok(status === 200 || status === 400, `${query}: ${status}`);
    }
  });

  test('is asked in 200 steps at most', async () => {
    const path = `/api/v1/destinations/${destinationId}/metrics?step=60&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z`;
    const { status, text } = await control.ask('GET', path, { token });
    assert.equal(status, 400);
    assert.match(text, /more than 200 steps apart/);
  });
});

suite('the errors of a destination', () => {
  test('are told by target, also of one that a good target makes up for', async () => {
    const now = Date.now();
    const refused = {
      url: BAD,
      errorClass: 'connection_refused',
      message: 'the connection was refused',
      timings: { totalMs: 1 },
    };
    await write(
      attempt(now - 50_000, [answered(GOOD, 200), answered(BAD, 500)]),
      attempt(now - 40_000, [answered(GOOD, 200), answered(BAD, 500)]),
      attempt(now - 30_000, [answered(GOOD, 503), refused], 'retry'),
      attempt(now - 20_000, [answered(GOOD, 200), refused]),
    );
    const { targets, attempts, isComplete } = await get<TargetErrors>('/errors');
    assert.equal(isComplete, true);
    assert.equal(attempts, 155);
    const [bad, good] = targets;
    assert.deepEqual([bad?.url, bad?.isFailing, bad?.posts, bad?.failed], [BAD, true, 4, 4]);
    assert.deepEqual(
      bad?.errors.map((each) => [each.errorClass, each.count, Date.parse(each.lastAt) - now]),
      [
        ['connection_refused', 2, -20_000],
        ['http_500', 2, -40_000],
      ],
    );
    assert.deepEqual(
      [bad?.errors[0]?.sentence, bad?.errors[1]?.sentence],
      ['the connection was refused', 'the receiver answered 500'],
    );
    assert.equal(Date.parse(bad?.errors[1]?.firstAt ?? '') - now, -50_000);
    assert.deepEqual([good?.url, good?.isFailing, good?.failed], [GOOD, false, 1]);
    const sample = `/api/v1/deliveries/${good?.errors[0]?.sampleDeliveryId}`;
    assert.equal((await control.ask('GET', sample, { token })).status, 200);
  });

  test('are of the latest thousand attempts, and the answer says so', async (t) => {
    const now = Date.now();
    const many = Array.from({ length: 1_200 }, (_, i) =>
      attempt(now - 15_000 + i, [answered(GOOD, 200), answered(BAD, 404)]),
    );
    await write(...many);
    const startedAt = performance.now();
    const { attempts, isComplete, targets, from } = await get<TargetErrors>('/errors');
    t.diagnostic(`a thousand attempts took ${Math.round(performance.now() - startedAt)} ms`);
    assert.deepEqual([attempts, isComplete, Date.parse(from) - now], [1_000, false, -15_000 + 200]);
    assert.deepEqual(
      targets.map(({ posts, failed }) => [posts, failed]),
      [
        [1_000, 1_000],
        [1_000, 0],
      ],
    );
  });

  test('and the figures over time are not found by another workspace', async () => {
    const stranger = await addToken(control.store, await addWorkspace(control.store), { role: 'owner' });
    for (const path of ['metrics', 'errors']) {
      const answer = await control.ask('GET', `/api/v1/destinations/${destinationId}/${path}`, { token: stranger });
      assert.equal(answer.status, 404);
    }
  });
});
