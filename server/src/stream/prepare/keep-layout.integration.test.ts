/** Servers come, go and are replaced while streams are in use: real ones, in one story on one cluster. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type NatsCluster, startNatsCluster } from '@millrace/engines';
import { JetStreamApiError, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { openLog } from '../../log.ts';
import { DELIVER_CONSUMER } from '../layout/layout.ts';
import { connectNats, type Connection } from '../nats/connect-nats.ts';
import { openStream, type Stream } from '../open-stream.ts';
import type { DeliverySide } from '../open-delivery-side.ts';
import { askServers, storesOf } from './assert-servers.ts';
import { keepLayout, type LayoutKeeper } from './keep-layout.ts';
import { surveyStreams } from './survey.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';
import { until } from '../../../testing/until.ts';

const log = openLog({ level: 'silent', pretty: false });
const settings = { ...STREAM_SETTINGS, replicas: 3, eventStreams: 2 } as const;
const STORE_MB = 1_000;
const TINY_MB = 80;
const ENVELOPE = '{"shape":"track","receivedAt":"2026-11-15T00:00:00.000Z","requestId":"r"}';

type Bed = AsyncDisposable & {
  cluster: NatsCluster;
  connection: Connection;
  manager: JetStreamManager;
  stream: Stream;
  keeper(): LayoutKeeper;
  survey: () => ReturnType<typeof surveyStreams>;
  /** The limits of all event streams. */
  room(): Promise<number>;
  /** Limits by stream. */
  limits(): Promise<Record<string, number>>;
};

/** With another server of that size from the beginning, if it is given. */
async function openBed(otherMb?: number): Promise<Bed> {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await startNatsCluster({ nodes: 3, maxFileStoreMb: STORE_MB }));
  if (otherMb !== undefined) await cluster.addNode({ maxFileStoreMb: otherMb });
  const stream = opening.use(await openStream({ natsUrl: cluster.url, settings, log }));
  const connection = opening.use(await connectNats({ url: cluster.url, name: 'keeper', log }));
  const manager = await jetstreamManager(connection.nc);
  const survey = async () => surveyStreams(manager, storesOf(await askServers(connection.nc), connection.nc));
  const limits = async () =>
    Object.fromEntries((await survey()).streams.map(({ name, maxBytes }): [string, number] => [name, maxBytes]));
  const open = opening.move();
  return {
    cluster,
    connection,
    manager,
    stream,
    keeper: () => open.use(keepLayout({ connection, manager, settings, isMyTurn: () => false, log })),
    survey,
    limits,
    room: async () => sumOf(Object.entries(await limits()).filter(([name]) => name.startsWith('EVENTS-'))),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

const sumOf = (limits: [string, number][]) => limits.reduce((all, [, bytes]) => all + bytes, 0);

suite('a cluster that changes', () => {
  let bed: Bed;
  let keeper: LayoutKeeper;
  let side: DeliverySide;
  let stopPulling: AsyncDisposable;
  const taken = new Set<string>();
  const stored: { id: string; stream: string }[] = [];
  const eventStreams = async () => (await bed.survey()).streams.filter(({ name }) => name.startsWith('EVENTS-'));

  async function send(count: number): Promise<void> {
    for (let sent = 0; sent < count; sent += 1) {
      const id = `r${stored.length}`;
      const body = Buffer.from(`{"userId":"u","event":"${id}"}`);
      const answer = await bed.stream.append({ sourceId: 'src_1', id, home: stored.length, envelope: ENVELOPE, body });
      assert.ok(answer.ok, answer.ok ? '' : answer.why);
      stored.push({ id, stream: answer.stream });
    }
  }

  before(async () => {
    bed = await openBed();
    keeper = bed.keeper();
    side = await bed.stream.deliverySide();
    stopPulling = side.pullRequests({
      room: () => 64,
      taken(request) {
        const read = request.events();
        for (const { event } of read.ok ? read.value.events : []) if (typeof event === 'string') taken.add(event);
        request.ack();
      },
    });
  });
  after(async () => {
    await stopPulling[Symbol.asyncDispose]();
    await side[Symbol.asyncDispose]();
    await bed[Symbol.asyncDispose]();
  });

  test('keeps its sizes while nothing changes', async () => {
    const at = await bed.limits();
    await keeper.look();
    assert.deepEqual(await bed.limits(), at);
  });

  test('gives more room, streams and leaders when a server comes, and nothing is lost meanwhile', async () => {
    const roomBefore = await bed.room();
    await send(20);
    await bed.cluster.addNode({ maxFileStoreMb: STORE_MB });
    await until(async () => {
      await Promise.all([keeper.look(), send(20)]);
      return (await eventStreams()).length >= 5;
    });
    await until(async () => {
      await Promise.all([keeper.look(), send(20)]);
      return (await bed.room()) > roomBefore * 1.15;
    });
    const used = () => new Set(stored.slice(-40).map(({ stream }) => stream));
    await until(async () => {
      await send(20);
      return used().size >= 5;
    });
    await until(
      () => stored.every(({ id }) => taken.has(id)),
      60_000,
      () => `${taken.size} of ${stored.length}`,
    );
    await until(async () => {
      await keeper.look();
      return new Set((await eventStreams()).map(({ leader }) => leader)).size === 4;
    });
  });

  test('reserves on no server more than its part', async () => {
    const reports = await askServers(bed.connection.nc);
    for (const { server, data } of reports) {
      const part = (data?.reserved_storage ?? 0) / (data?.config?.max_storage ?? 1);
      assert.ok(part > 0.3 && part < 0.82, `${server.name}: ${part}`);
    }
  });

  test('comes to the same result when two processes decide at once', async () => {
    const at = await bed.limits();
    const other = bed.keeper();
    for (let round = 0; round < 3; round += 1) await Promise.all([keeper.look(), other.look()]);
    assert.deepEqual(await bed.limits(), at);
  });

  test('is brought back after a start of an earlier version, which knows fewer streams and other sizes', async () => {
    const at = await bed.limits();
    await bed.manager.streams.update('EVENTS-0', { max_bytes: Math.floor((at['EVENTS-0'] ?? 0) * 0.8) });
    await bed.manager.streams.update('EVENTS-3', { subjects: ['surplus.EVENTS-3'] });
    await bed.manager.streams.update('EVENTS-4', { subjects: ['surplus.EVENTS-4'] });
    await bed.manager.streams.delete('EVENTS-4');
    await send(20);
    // The start may be about to delete it: a request that is let in now would be lost.
    await keeper.look();
    const isBare = ({ name, subjects }: { name: string; subjects: readonly string[] }) =>
      name === 'EVENTS-3' && subjects[0] === 'surplus.EVENTS-3';
    assert.ok((await eventStreams()).some(isBare));
    await until(async () => {
      await keeper.look();
      const [three, four] = (await eventStreams()).slice(-2);
      return three?.subjects[0] === 'events.3.*' && four?.subjects[0] === 'events.4.*';
    });
    await until(async () => {
      await keeper.look();
      return ((await bed.limits())['EVENTS-0'] ?? 0) >= (at['EVENTS-0'] ?? 0) * 0.98;
    });
    const before = stored.length;
    await until(async () => {
      await send(20);
      return stored.slice(before).some(({ stream }) => stream === 'EVENTS-4');
    });
  });

  test('gets the consumers of a stream back that a process made and left without them', async () => {
    await bed.manager.consumers.delete('EVENTS-4', DELIVER_CONSUMER);
    await until(async () => {
      await keeper.look();
      const found = await bed.manager.consumers.info('EVENTS-4', DELIVER_CONSUMER).catch(() => undefined);
      return found !== undefined;
    });
  });

  test('grows also beside a surplus stream of another kind whose neighbours are deleted already', async () => {
    const at = await bed.limits();
    const surplus = { name: 'OUTCOMES-2', subjects: ['surplus.OUTCOMES-2'], num_replicas: 3, max_bytes: 1_000_000 };
    await bed.manager.streams.add(surplus);
    await bed.manager.streams.update('EVENTS-0', { max_bytes: Math.floor((at['EVENTS-0'] ?? 0) * 0.8) });
    await until(async () => {
      await keeper.look();
      return ((await bed.limits())['EVENTS-0'] ?? 0) >= (at['EVENTS-0'] ?? 0) * 0.95;
    });
    await bed.manager.streams.delete(surplus.name);
    await until(async () => {
      await keeper.look();
      return ((await bed.limits())['OUTCOMES'] ?? 0) >= (at['OUTCOMES'] ?? 0) * 0.95;
    });
  });

  test('changes nothing while a server is away, not even at a start', async () => {
    const [, , , fourth] = bed.cluster.nodes;
    const at = await bed.limits();
    await fourth?.kill('SIGKILL');
    const isLed = async () => {
      const { streams } = await bed.survey();
      return streams.every(({ leader }) => leader !== 'n4') && streams.length === Object.keys(at).length;
    };
    await until(isLed);
    await keeper.look();
    await using again = await openStream({ natsUrl: bed.cluster.url, settings, log });
    assert.ok(again.isAvailable());
    await until(isLed);
    assert.deepEqual(await bed.limits(), at);
    await send(40);
  });

  test('goes on with another server in the place of one that is gone for good', async () => {
    const fifth = await bed.cluster.addNode({ maxFileStoreMb: STORE_MB });
    await using system = await connectSystem(bed.cluster);
    const at = await bed.room();
    await system.nc.request('$JS.API.SERVER.REMOVE', JSON.stringify({ peer: 'n4' }), { timeout: 10_000 });
    await until(async () => {
      const { streams, isWhole } = await bed.survey();
      return isWhole && streams.some(({ peers }) => peers.includes(fifth.name));
    });
    await keeper.look();
    await keeper.look();
    assert.ok((await bed.room()) >= at * 0.9);
    await send(40);
    await until(
      () => stored.every(({ id }) => taken.has(id)),
      60_000,
      () => `${taken.size} of ${stored.length}`,
    );
  });
});

suite('a server that does not fit', () => {
  test('is left alone if it is tiny, or does not sync its writes', async () => {
    await using bed = await openBed();
    const at = await bed.limits();
    await bed.cluster.addNode({ maxFileStoreMb: TINY_MB });
    await until(async () => (await bed.survey()).stores.length === 4);
    const keeper = bed.keeper();
    await keeper.look();
    assert.deepEqual(await bed.limits(), at);
    // NATS checks an increase against the server that leads the cluster, which has hardly any room.
    await leadBy(bed, 'n4');
    await bed.manager.streams.update('EVENTS-0', { max_bytes: Math.floor((at['EVENTS-0'] ?? 0) / 2) });
    await until(async () => {
      await keeper.look();
      return ((await bed.limits())['EVENTS-0'] ?? 0) >= (at['EVENTS-0'] ?? 0) * 0.98;
    });
    await bed.cluster.addNode({ maxFileStoreMb: STORE_MB, sync: 'default' });
    await until(async () => (await bed.survey()).stores.length === 5);
    await keeper.look();
    assert.equal((await bed.survey()).streams.filter(({ name }) => name.startsWith('EVENTS-')).length, 2);
  });

  test('that has promised more than it has lets no limit change while it leads, and those that it holds shrink when another one does', async () => {
    await using bed = await openBed();
    const [first] = bed.cluster.nodes;
    const half = Math.floor(((await bed.limits())['EVENTS-0'] ?? 0) / 2);
    await first?.kill('SIGTERM');
    await first?.start({ maxFileStoreMb: STORE_MB * 0.3 });
    await until(async () => (await bed.survey()).isWhole);
    await until(async () => {
      const one = (await askServers(bed.connection.nc)).find(({ server }) => server.name === 'n1');
      return (one?.data?.reserved_storage ?? 0) > (one?.data?.config?.max_storage ?? Infinity);
    });
    await leadBy(bed, 'n1');
    await assert.rejects(bed.manager.streams.update('EVENTS-0', { max_bytes: half }), isNoRoom);
    await leadBy(bed, 'n2');
    const keeper = bed.keeper();
    await until(async () => {
      await keeper.look();
      return (await bed.room()) < STORE_MB * 0.3 * 1_000_000;
    });
    assert.ok((await bed.room()) > STORE_MB * 0.1 * 1_000_000);
  });

  test('takes no room from the others in a new installation', async () => {
    await using bed = await openBed(TINY_MB);
    const limits = await bed.limits();
    assert.ok((limits['EVENTS-0'] ?? 0) > STORE_MB * 0.2 * 1_000_000, `${limits['EVENTS-0']}`);
    assert.ok((limits['LANES-0'] ?? 0) > STORE_MB * 0.15 * 1_000_000, `${limits['LANES-0']}`);
    for (const { server, data } of await askServers(bed.connection.nc)) {
      const { reserved_storage: reserved = 0, config } = data ?? {};
      assert.ok(reserved <= (config?.max_storage ?? 0), `${server.name}: ${reserved}`);
    }
  });
});

function isNoRoom(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === 10_047;
}

async function leadBy({ cluster, connection }: Bed, name: string): Promise<void> {
  await using system = await connectSystem(cluster);
  await until(async () => {
    const wish = JSON.stringify({ placement: { preferred: name } });
    await system.nc.request('$JS.API.META.LEADER.STEPDOWN', wish, { timeout: 5_000 });
    return (await askServers(connection.nc)).some(({ data }) => data?.meta_cluster?.leader === name);
  });
}

function connectSystem({ url }: NatsCluster): Promise<Connection> {
  return connectNats({ url: url.replaceAll('nats://', 'nats://system:system@'), name: 'system', log });
}
