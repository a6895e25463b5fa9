/** Collect, deliver and control on their own, each with the NATS user of its role and nothing more. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import type { Overview, System } from '@millrace/contract/control';
import { startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from '../testing/migrated-postgres.ts';
import { pino } from 'pino';
import { readConfig } from '../src/config.ts';
import { answer, openReceiver } from '../testing/receiver.ts';
import { addDestination, addScene, ended, type Job, monthsSince, overHttp, stackSettings } from '../testing/stack.ts';
import { type Running, startRoles } from '../src/start-roles.ts';
import { openBucketForTests } from '../testing/inspector.ts';
import { track, tracks } from '../testing/samples.ts';
import { staysTrueFor, until } from '../testing/until.ts';

type Line = { msg: string; role: string; error?: string };
type Page<T> = { items: T[] };
type Usage = { sources: { sourceId: string; calls: number }[] };

let apart: Awaited<ReturnType<typeof playApart>>;
before(async () => void (apart = await playApart()));
after(() => apart[Symbol.asyncDispose]());

suite('roles apart, each with its own NATS user', () => {
  test('wait for control to make the streams', () => {
    assert.deepEqual(apart.waited.toSorted(), ['collect', 'deliver']);
  });

  test('accept, deliver, retry, give up and record', async () => {
    await using good = await openReceiver();
    await using flaky = await openReceiver((one, response) =>
      answer(one.headers['x-millrace-attempt'] === '1' ? 500 : 200)(one, response),
    );
    await using dead = await openReceiver(answer(410));
    const scene = await addScene(apart, good.url);
    const flakyId = await addDestination(apart, scene.sourceId, { targets: [{ url: flaky.url }] });
    const deadId = await addDestination(apart, scene.sourceId, { targets: [{ url: dead.url }] });
    await until(() => [flakyId, deadId].every((id) => apart.view().destination(id) !== undefined));
    assert.equal(await apart.send(scene.writeKey, [track('Bought')]), 200);
    await until(() => good.received.length === 1 && flaky.received.length === 2);
    const letters = () => apart.get<Page<{ id: string }>>('GET', `/dead-letters?destinationId=${deadId}`);
    await until(async () => (await letters()).items.length === 1);
    await until(async () => {
      const { items } = await apart.get<Page<object>>('GET', `/deliveries?sourceId=${scene.sourceId}`);
      return items.length === 3;
    });
    const [letter] = (await letters()).items;
    await apart.get('POST', `/dead-letters/${letter?.id}/retry`);
    await until(() => dead.received.length === 2);
  });

  test('check a URL and send a test: control asks, deliver does it', async () => {
    await using receiver = await openReceiver();
    const { destinationId } = await addScene(apart, receiver.url);
    const checked = await apart.get<{ ok: boolean }>('POST', '/destinations/check-url', { url: receiver.url });
    assert.equal(checked.ok, true);
    const tested = await apart.get<{ id: string }>('POST', `/destinations/${destinationId}/test`, {});
    assert.equal(receiver.received[0]?.headers['webhook-id'], tested.id);
    const path = `/destinations/${destinationId}/check-up`;
    await apart.get('POST', path, {});
    await until(async () => (await apart.get<{ state: string }>('GET', path)).state === 'done', 60_000);
    assert.equal(receiver.received.length, 4);
  });

  test('replay, pause, show the tail, count usage and erase', async () => {
    await using receiver = await openReceiver();
    const scene = await addScene(apart, receiver.url);
    const sentAt = new Date();
    assert.equal(await apart.send(scene.writeKey, tracks(20)), 200);
    await until(() => receiver.received.length === 20);
    await until(async () => {
      const asked = monthsSince(sentAt).map((month) => apart.get<Usage>('GET', `/usage?month=${month}`));
      const sources = (await Promise.all(asked)).flatMap((usage) => usage.sources);
      return sources.some((each) => each.sourceId === scene.sourceId && each.calls === 20);
    });
    const at = (ms: number) => new Date(Date.now() + ms).toISOString();
    const { sourceId, destinationId } = scene;
    const range = { sourceId, destinationId, from: at(-3_600_000), to: at(3_600_000) };
    const replay = await apart.get<Job>('POST', '/replays', range);
    assert.equal((await ended(apart, `/replays/${replay.id}`)).state, 'done');
    await until(() => receiver.received.length === 40);
    await apart.get('PATCH', `/destinations/${destinationId}`, { paused: true });
    await until(() => apart.view().destination(destinationId)?.paused === true);
    await apart.tailUntil(sourceId, () => apart.send(scene.writeKey, [track('Tailed', { userId: 'u9' })]));
    await apart.get('PATCH', `/destinations/${destinationId}`, { paused: false });
    await until(() => receiver.received.some(({ body }) => body.includes('Tailed')));
    const deletion = await apart.get<Job>('POST', '/deletion-requests', {
      sources: [sourceId],
      userIds: ['u9'],
      suppress: true,
    });
    await ended(apart, `/deletion-requests/${deletion.id}`);
  });

  test('let control print what is stored, and neither of the others', async () => {
    assert.match(await apart.run('print-events.ts', 'control'), /"event":"Tailed"/);
    for (const role of ['collect', 'deliver']) {
      await assert.rejects(apart.run('print-events.ts', role), /Permissions Violation/);
    }
  });

  test('let control show the overview, stored events, a schema and the system', async () => {
    const scene = await addScene(apart, 'http://127.0.0.1:1999/');
    await apart.send(scene.writeKey, [track('Looked For')]);
    const { items } = await apart.get<{ items: object[] }>(
      'GET',
      `/stored-events?sourceId=${scene.sourceId}&text=looked`,
    );
    assert.equal(items.length, 1);
    assert.match(JSON.stringify(await apart.get('GET', `/sources/${scene.sourceId}/schema`)), /"name":"Looked For"/);
    assert.notEqual((await apart.get<Overview>('GET', '/overview')).tiles.deadLetters, null);
    const isHeard = async () => (await apart.get<System>('GET', '/system')).deliverProcesses?.length === 1;
    await until(isHeard);
    const { nats } = await apart.get<System>('GET', '/system');
    assert.equal(nats.isReachable, true);
    assert.deepEqual(
      nats.streams?.filter(({ leader }) => leader === null),
      [],
    );
  });

  test('are denied nothing that they need', async () => {
    // Each role starts its periodic work by itself (lane scans, trims, comparisons), the first of each within these seconds.
    await staysTrueFor(6_000, () => !apart.lines.some(({ msg }) => msg === 'nats.denied'));
  });
});

suite('a stolen NATS user', () => {
  test('of deliver can make the server write to the config bucket, and still redirects nothing', async () => {
    await using receiver = await openReceiver();
    await using thief = await openReceiver();
    const scene = await addScene(apart, receiver.url);
    const key = `destination.${scene.destinationId}`;
    const forged = (await apart.bucket.get(key)).replace(receiver.url, thief.url);
    // NATS asks whether a user may publish to a subject, but not whether it may name that subject as the one for answers.
    await apart.smuggle(forged, key);
    await until(async () => (await apart.bucket.get(key)) === forged);
    await until(() => apart.lines.some(({ msg, role }) => msg === 'config.refused' && role === 'deliver'));
    assert.equal(await apart.send(scene.writeKey, [track('Smuggled')]), 200);
    await until(() => receiver.received.some(({ body }) => body.includes('Smuggled')));
    assert.deepEqual(thief.received, []);
  });
});

async function playApart() {
  await using opening = new AsyncDisposableStack();
  const nats = opening.use(await startNatsCluster());
  const postgres = opening.use(await startMigratedPostgres());
  const lines: Line[] = [];
  const settingsOf = (role: string) => ({
    ...stackSettings(nats.url.replace('nats://', `nats://${role}:${role}@`), postgres),
    MILLRACE_METRICS_PORT: '0',
    MILLRACE_RETRY_SCALE: '60',
    MILLRACE_ROLES: role,
  });
  const play = async (role: string): Promise<Running> => {
    const write = (line: string) => void lines.push({ ...(JSON.parse(line) as Line), role });
    const read = readConfig(settingsOf(role));
    if (!read.ok) throw new Error(read.problems.join(', '));
    return opening.use(await startRoles(read.value, pino({ level: 'info' }, { write })));
  };
  const early = [play('collect'), play('deliver')];
  const isWaiting = ({ msg }: Line) => msg === 'layout.waiting';
  await until(() => lines.filter(isWaiting).length === 2);
  // With what they were denied when they tried to make the streams themselves.
  const before = lines.splice(0);
  const control = await play('control');
  const [collect, deliver] = await Promise.all(early);
  const bucket = opening.use(await openBucketForTests(nats.adminUrl));
  const controlUrl = () => `http://127.0.0.1:${control.control?.port}`;
  const collectUrl = () => `http://127.0.0.1:${collect?.collectPort}`;
  const open = opening.move();
  return {
    ...overHttp({ controlUrl, collectUrl }),
    lines,
    /** The output of a program of ours in the environment of a role. */
    async run(program: string, role: string): Promise<string> {
      const done = await promisify(execFile)(process.execPath, [join(import.meta.dirname, '../src', program)], {
        env: settingsOf(role),
        timeout: 30_000,
      });
      return done.stdout;
    },
    bucket,
    waited: before.filter(isWaiting).map(({ role }) => role),
    view: () => {
      if (deliver?.view === undefined) throw new Error('deliver has no view');
      return deliver.view;
    },
    smuggle: (text: string, key: string) =>
      bucket.smuggle(nats.url.replace('nats://', 'nats://deliver:deliver@'), text, key),
    /** Listens to the tail of a source until it has shown a call. */
    async tailUntil(sourceId: string, send: () => Promise<number>): Promise<void> {
      using stopping = new DisposableStack();
      const life = new AbortController();
      stopping.defer(() => life.abort());
      const headers = {
        Authorization: `Bearer ${stackSettings('', { url: '', serviceUrl: '' })['MILLRACE_BOOTSTRAP_TOKEN']}`,
      };
      const tail = await fetch(`${controlUrl()}/api/v1/sources/${sourceId}/tail`, { headers, signal: life.signal });
      const reader = tail.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      const shows = async (part: string) => {
        while (!text.includes(part)) text += (await reader?.read())?.value ?? '';
      };
      await shows('event: open');
      assert.equal(await send(), 200);
      await shows('Tailed');
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
