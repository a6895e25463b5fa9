/** Two cells of one NATS server each: where calls go, what moves, and what is left when one of them is gone. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { suite, test } from 'node:test';
import { openLog } from '../src/log.ts';
import { type CellScene, openTwoCells } from '../testing/cells.ts';
import { openInspector } from '../testing/inspector.ts';
import { answer, openReceiver } from '../testing/receiver.ts';
import { track, tracks } from '../testing/samples.ts';
import { ended, type Job, monthsSince } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

const SILENT = openLog({ level: 'silent', pretty: false });

type Page<T> = { items: T[] };
type Source = { id: string; cell: string; nextCell?: string };
type Usage = { sources: { sourceId: string; calls: number }[] };

suite('a source in a cell', () => {
  test('is collected, delivered, recorded and counted there; other cells do not know its destinations', async () => {
    await using cells = await openTwoCells();
    await using receiver = await openReceiver();
    const there = await cells.addScene('eu', receiver.url);
    const here = await cells.addScene('main', receiver.url);
    const sentAt = new Date();
    assert.equal(await cells.send(there.writeKey, tracks(20)), 200);
    assert.equal(await cells.send(here.writeKey, tracks(5)), 200);
    await until(() => receiver.received.length === 25);
    assert.equal(cells.viewOf('main')?.destination(there.destinationId), undefined);
    assert.equal(cells.viewOf('eu')?.destination(here.destinationId), undefined);
    await until(async () => {
      const { items } = await cells.get<Page<object>>('GET', `/deliveries?sourceId=${there.sourceId}`);
      return items.length === 20;
    });
    await until(async () => {
      const asked = monthsSince(sentAt).map((month) => cells.get<Usage>('GET', `/usage?month=${month}`));
      const sources = (await Promise.all(asked)).flatMap(({ sources: each }) => each);
      return sources.some(({ sourceId, calls }) => sourceId === there.sourceId && calls === 20);
    });
    const { cell } = await cells.get<Source>('GET', `/sources/${there.sourceId}`);
    assert.equal(cell, 'eu');
    await peopleSeeIt(cells, there);
    await noOtherCell(cells, here);
  });
});

async function noOtherCell(cells: Awaited<ReturnType<typeof openTwoCells>>, { sourceId }: CellScene): Promise<void> {
  const made = await cells.ask('POST', '/sources', { name: 'Lost', cell: 'us' });
  assert.equal(made.status, 400);
  assert.match(JSON.stringify(made.body), /is no cell of this installation, which has main, eu/);
  assert.equal((await cells.ask('PATCH', `/sources/${sourceId}`, { cell: 'us' })).status, 400);
  assert.equal((await cells.get<Source>('GET', `/sources/${sourceId}`)).cell, 'main');
}

/** Questions of people about events, dead letters and destinations reach the other cell. */
async function peopleSeeIt(cells: Awaited<ReturnType<typeof openTwoCells>>, scene: CellScene): Promise<void> {
  const { sourceId, destinationId } = scene;
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
  await until(async () => {
    const feed = await cells.get<Page<object>>('GET', `/sources/${sourceId}/feed?from=${hourAgo}`);
    return feed.items.length === 20;
  });
  const tested = await cells.get<{ id: string }>('POST', `/destinations/${destinationId}/test`, {});
  assert.match(tested.id, /^test_/);
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  const range = { sourceId, destinationId, from: at(-3_600_000), to: at(3_600_000) };
  const replay = await cells.get<Job>('POST', '/replays', range);
  const { state, progress } = await ended(cells, `/replays/${replay.id}`);
  assert.deepEqual({ state, done: progress.done }, { state: 'done', done: 20 });
  await using gone = await openReceiver(answer(410));
  await cells.get('PATCH', `/destinations/${destinationId}`, { settings: { targets: [{ url: gone.url }] } });
  const [letter] = await deadLetter(cells, scene, () => gone.received.length);
  const before = gone.received.length;
  await cells.get('POST', `/dead-letters/${letter?.id}/retry`);
  await until(() => gone.received.length > before);
}

async function deadLetter(
  cells: Awaited<ReturnType<typeof openTwoCells>>,
  { writeKey, destinationId }: CellScene,
  received: () => number,
): Promise<{ id: string }[]> {
  let letters: { id: string }[] = [];
  await until(async () => {
    // Each with an id of its own: the first ones may find the settings from before, and a repeated one is stored once.
    if (received() === 0) await cells.send(writeKey, [track('Refused', { messageId: randomUUID() })]);
    letters = (await cells.get<Page<{ id: string }>>('GET', `/dead-letters?destinationId=${destinationId}`)).items;
    return letters.length > 0;
  });
  return letters;
}

suite('a source that moves', () => {
  test('loses nothing, and its old cell delivers what it has', async (t) => {
    await using cells = await openTwoCells();
    await using receiver = await openReceiver();
    const { sourceId, destinationId, writeKey } = await cells.addScene('main', receiver.url);
    await using euStreams = await openInspector(cells.nats.eu.adminUrl, SILENT);
    const stored = new Set<string>();
    const life = new AbortController();
    const sending = (async () => {
      for (let i = 0; !life.signal.aborted; i += 1) {
        const userId = `moved-${i}`;
        if ((await cells.send(writeKey, [track('Moved', { messageId: userId, userId })])) === 200) stored.add(userId);
      }
    })();
    await until(() => receiver.received.length > 50);
    assert.equal((await cells.get<Source>('PATCH', `/sources/${sourceId}`, { cell: 'eu' })).nextCell, 'eu');
    const storedInEu = async () => {
      const streams = await Promise.all(['EVENTS-0', 'EVENTS-1'].map((name) => euStreams.manager.streams.info(name)));
      return streams.reduce((sum, { state }) => sum + state.last_seq, 0);
    };
    await until(async () => (await storedInEu()) > 50);
    await cells.get('PATCH', `/sources/${sourceId}`, { cell: 'main' });
    const afterBack = stored.size;
    await until(() => stored.size > afterBack + 100);
    life.abort();
    await sending;
    const ids = () => receiver.received.map(({ body }) => (JSON.parse(body) as { userId: string }).userId);
    await until(() => new Set(ids()).size === stored.size);
    assert.deepEqual(new Set(ids()), stored);
    t.diagnostic(`${stored.size} stored, ${receiver.received.length - stored.size} delivered twice`);
    await until(() => cells.viewOf('eu')?.destination(destinationId) !== undefined);
  });

  test('stays where it is until the new cell knows it', async () => {
    await using cells = await openTwoCells();
    await using receiver = await openReceiver();
    const { sourceId, writeKey } = await cells.addScene('main', receiver.url);
    const names = () => receiver.received.map(({ body }) => (JSON.parse(body) as { event: string }).event);
    const source = () => cells.get<Source>('GET', `/sources/${sourceId}`);
    await cells.nats.eu.nodes[0]?.kill('SIGKILL');
    await cells.get('PATCH', `/sources/${sourceId}`, { cell: 'eu' });
    const made = await cells.get<Source & { writeKeys: { key: string }[] }>('POST', '/sources', {
      name: 'New',
      cell: 'eu',
    });
    const newKey = made.writeKeys[0]?.key ?? '';
    // The bucket of main has both by now: a new source in a cell that does not know it is told to come back.
    await until(async () => (await cells.send(newKey, [track('Too early')])) === 503);
    assert.equal(await cells.send(writeKey, [track('On the way')]), 200);
    await until(() => names().includes('On the way'));
    assert.deepEqual([(await source()).cell, (await source()).nextCell], ['main', 'eu']);
    await cells.nats.eu.nodes[0]?.start();
    await until(async () => (await source()).cell === 'eu');
    assert.equal((await source()).nextCell, undefined);
    await until(async () => (await cells.send(newKey, [track('In time')])) === 200);
    assert.equal(await cells.send(writeKey, [track('Arrived')]), 200);
    await until(() => names().includes('Arrived'));
  });
});

suite('a cell that is gone', () => {
  test('stops its own sources with 503 and no other; its spare takes those that have one', async () => {
    await using cells = await openTwoCells({ main: 'eu' });
    await using receiver = await openReceiver();
    const here = await cells.addScene('main', receiver.url);
    const there = await cells.addScene('eu', receiver.url);
    // The spare knows the destinations of the cell that it stands in for.
    await until(() => cells.viewOf('eu')?.destination(here.destinationId) !== undefined);
    await cells.nats.main.nodes[0]?.kill('SIGKILL');
    await until(async () => (await cells.send(here.writeKey, [track('To the spare')])) === 200);
    assert.equal(await cells.send(there.writeKey, [track('As ever')]), 200);
    const names = () => receiver.received.map(({ body }) => (JSON.parse(body) as { event: string }).event);
    await until(() => names().includes('To the spare') && names().includes('As ever'));
    // And back: the record of both is whole.
    await cells.nats.main.nodes[0]?.start();
    await until(async () => {
      const { items } = await cells.get<Page<object>>('GET', `/deliveries?sourceId=${here.sourceId}`);
      return items.length > 0;
    });
    await cells.nats.eu.nodes[0]?.kill('SIGKILL');
    await until(async () => (await cells.send(there.writeKey, [track('No spare')])) === 503);
    await until(async () => (await cells.send(here.writeKey, [track('Home again')])) === 200);
    await until(() => names().includes('Home again'));
    const events = await cells.ask('GET', `/sources/${here.sourceId}/feed`);
    assert.equal(events.status, 503, 'an answer without the events of the other cell would be wrong');
    await cells.nats.eu.nodes[0]?.start();
    await until(async () => (await cells.send(there.writeKey, [track('Back')])) === 200);
  });

  test('does not stop a collect process from starting, nor from hearing of changes', async () => {
    await using cells = await openTwoCells();
    await using receiver = await openReceiver();
    const there = await cells.addScene('eu', receiver.url);
    const collect = await cells.play({ MILLRACE_ROLES: 'collect', MILLRACE_CELL: 'eu' });
    const send = (port: number | undefined, key: string) =>
      fetch(`http://127.0.0.1:${port}/v1/batch`, {
        method: 'POST',
        headers: { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
        // Each call is one of its own, and no retry of the one before.
        body: JSON.stringify({ batch: [track('Sent', { messageId: randomUUID() })] }),
      }).then((got) => got.status);
    assert.equal(await send(collect.collectPort, there.writeKey), 200);
    await cells.nats.eu.nodes[0]?.kill('SIGKILL');
    const late = await cells.play({ MILLRACE_ROLES: 'collect', MILLRACE_CELL: 'eu' });
    await until(async () => (await send(late.collectPort, there.writeKey)) === 503);
    // Both follow the bucket of main now: they hear of the move, and the source is collected again.
    await cells.get('PATCH', `/sources/${there.sourceId}`, { cell: 'main' });
    await until(async () => (await send(late.collectPort, there.writeKey)) === 200);
    await until(async () => (await send(collect.collectPort, there.writeKey)) === 200);
    await until(() => receiver.received.length >= 3);
    await cells.nats.eu.nodes[0]?.start();
  });
});
