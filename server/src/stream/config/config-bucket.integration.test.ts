import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type NatsCluster, startNatsCluster } from '@millrace/engines';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { openLog } from '../../log.ts';
import type { ConfigView } from './config-bucket.ts';
import type { DestinationConfig, SourceConfig } from '../../domain/configuration.ts';
import { userHash } from '../../domain/withheld.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { openStream } from '../open-stream.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';
import { until } from '../../../testing/until.ts';

const log = openLog({ level: 'silent', pretty: false });
/** Within a second, which the projection bench measures; the rest is for the stalls of a busy machine. */
const PROMPTLY_MS = 10_000;
/** With a single server a watch compares its position every half minute. */
const CHECKED_MS = 45_000;

suite('the configuration', () => {
  test('reaches a view promptly: new, changed and deleted sources', async (t) => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
    const writer = await stream.configWriter();
    await writer.putSource(source('src_early', ['h0']));
    await using view = await stream.configView();
    assert.equal(view.sourceByKeyHash('h0')?.id, 'src_early', 'what was there before is there at once');

    await writer.putSource(source('src_1', ['h1', 'h2']));
    const madeMs = await sees(view, { hash: 'h2', id: 'src_1' });
    await writer.putSource(source('src_1', ['h1']));
    const changedMs = await sees(view, { hash: 'h2', id: undefined });
    assert.equal(view.sourceByKeyHash('h1')?.id, 'src_1');
    await writer.deleteSource('src_1');
    const deletedMs = await sees(view, { hash: 'h1', id: undefined });
    t.diagnostic(`seen after ${madeMs}, ${changedMs}, ${deletedMs} ms`);
  });

  test('reaches a view promptly: new, changed, moved and deleted destinations', async (t) => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
    const writer = await stream.configWriter();
    await writer.putDestination(destination('dst_1', 'src_1'));
    await writer.putDestination(destination('dst_2', 'src_1'));
    await using view = await stream.configView();
    const names = (sourceId: string) => view.destinationsOf(sourceId).map((each) => each.name);
    assert.deepEqual(names('src_1'), ['dst_1', 'dst_2']);
    assert.equal(view.destinationsOf('src_1')[0], view.destination('dst_1'), 'parsed once');
    const heard = new Set<string>();
    using listening = new DisposableStack();
    listening.use(view.onDestination(() => assert.fail('a listener that fails')));
    listening.use(view.onDestination((id) => heard.add(id)));

    await writer.write([{ key: 'destination.dst_1', value: '{"broken' }]);
    await writer.putDestination({ ...destination('dst_2', 'src_2'), name: 'moved' });
    await writer.deleteDestination('dst_1');
    t.diagnostic(`seen after ${await until(() => view.destination('dst_1') === undefined, PROMPTLY_MS)} ms`);
    assert.deepEqual([names('src_1'), names('src_2')], [[], ['moved']]);
    assert.deepEqual(
      [...heard].toSorted(),
      ['dst_1', 'dst_2'],
      'a listener that fails keeps no other from hearing of it',
    );
  });

  test('follows a write key that moves to another source', async () => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
    const writer = await stream.configWriter();
    await using view = await stream.configView();
    await writer.putSource(source('src_a', ['h']));
    await writer.putSource(source('src_b', ['h']));
    await writer.putSource(source('src_a', []));
    await writer.putSource(source('src_c', ['last']));
    await sees(view, { hash: 'last', id: 'src_c' });
    assert.equal(view.sourceByKeyHash('h')?.id, 'src_b');
  });

  // They wait for the same half minute, side by side.
  suite('in the bucket of a server that is alone', { concurrency: true }, () => {
    test('reaches collect without destinations, also when the server has dropped the watch', async () => {
      await using cluster = await startNatsCluster();
      await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
      const writer = await stream.configWriter();
      await writer.putDestination(destination('dst_1', 'src_1'));
      await using view = await stream.configView(undefined, ['collect']);
      await writer.putSource(source('src_1', ['h1']));
      await sees(view, { hash: 'h1', id: 'src_1' });
      assert.equal(view.destination('dst_1'), undefined);

      await using connection = await connectNats({ url: cluster.adminUrl, name: 'test', log });
      const manager = await jetstreamManager(connection.nc);
      for await (const { name } of manager.consumers.list('KV_config'))
        await manager.consumers.delete('KV_config', name);
      await writer.putDestination(destination('dst_2', 'src_1'));
      await writer.putSource(source('src_2', ['h2']));
      await sees(view, { hash: 'h2', id: 'src_2' }, CHECKED_MS);
      assert.deepEqual(view.destinationsOf('src_1'), []);
    });

    for (const roles of [['collect'], ['collect', 'deliver']] as const) {
      test(`reaches ${roles.join(' and ')} also from a bucket that was deleted and made again`, async () => {
        await using cluster = await startNatsCluster();
        await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
        const writer = await stream.configWriter();
        for (let nth = 0; nth < 10; nth += 1) await writer.putSource(source('src_1', [`old_${nth}`]));
        await using view = await stream.configView(undefined, roles);
        await sees(view, { hash: 'old_9', id: 'src_1' });

        await using connection = await connectNats({ url: cluster.adminUrl, name: 'test', log });
        const manager = await jetstreamManager(connection.nc);
        const { config } = await manager.streams.info('KV_config');
        await manager.streams.delete('KV_config');
        await manager.streams.add(config);
        // Fewer revisions than the view has seen.
        await writer.putSource(source('src_1', ['new']));
        await sees(view, { hash: 'new', id: 'src_1' }, CHECKED_MS);
        assert.equal(view.sourceByKeyHash('old_9'), undefined);
        await writer.deleteSource('src_1');
        await sees(view, { hash: 'new', id: undefined });
      });
    }
  });

  test('passes over an entry that cannot be read', async () => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
    const writer = await stream.configWriter();
    await using connection = await connectNats({ url: cluster.url, name: 'test', log });
    const bucket = await new Kvm(connection.nc).open('config');
    for (const text of ['not json', '{}', '{"id":"src_other"}']) await bucket.put('source.src_bad', text);
    await using view = await stream.configView();
    await writer.putSource(source('src_good', ['good']));
    await sees(view, { hash: 'good', id: 'src_good' });
  });

  test('has the marks of erased users also for a source that only a newer process can read', async () => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
    const writer = await stream.configWriter();
    await writer.putDestination(destination('dst_1', 'src_1'));
    const marks = [{ sourceId: '', erasedBefore: '2030-01-01T00:00:00.000Z', suppressed: true }];
    await writer.write([
      { key: 'source.src_1', value: JSON.stringify({ ...source('src_1', []), v: 99 }) },
      { key: `user.${userHash('ws_1', 'u1')}`, value: JSON.stringify({ workspaceId: 'ws_1', marks }) },
    ]);
    await using view = await stream.configView();
    assert.equal(view.userMark('src_1', 'u1')?.isSuppressed, true);
    assert.equal(view.userMark('src_1', 'u2'), undefined);
  });

  test('refuses a source whose id would mean something else in a subject', async () => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
    const writer = await stream.configWriter();
    for (const id of ['acme.web', '*', '>', '', 'a b'])
      await assert.rejects(writer.putSource(source(id, [])), /is not one/);
  });

  test('stays in memory while NATS is away, and catches up when it is back', async () => {
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
    const writer = await stream.configWriter();
    await writer.putSource(source('src_1', ['h1']));
    await using view = await stream.configView();
    for (let round = 0; round < 3; round += 1) {
      await restart(cluster);
      assert.equal(view.sourceByKeyHash('h1')?.id, 'src_1');
      await writeUntilTaken(() => writer.putSource(source(`src_r${round}`, [`r${round}`])));
      await sees(view, { hash: `r${round}`, id: `src_r${round}` }, 5_000);
    }
  });

  test('keeps coming while each server of a cluster dies in turn', async () => {
    await using cluster = await startNatsCluster({ nodes: 3 });
    await using stream = await openStream({ natsUrl: cluster.url, settings: { ...STREAM_SETTINGS, replicas: 3 }, log });
    const writer = await stream.configWriter();
    await using view = await stream.configView();
    for (const [index, node] of cluster.nodes.entries()) {
      await node.kill('SIGKILL');
      await writeUntilTaken(() => writer.putSource(source(`src_${index}`, [`k${index}`])));
      await sees(view, { hash: `k${index}`, id: `src_${index}` }, 40_000);
      await node.start();
    }
  });
});

function source(id: string, writeKeyHashes: string[]): SourceConfig {
  return { id, workspaceId: 'ws_1', name: id, enabled: true, writeKeyHashes };
}

function destination(id: string, sourceId: string): DestinationConfig {
  const updatedAt = '2030-01-01T00:00:00.000Z';
  return { id, workspaceId: 'ws_1', sourceId, catalog: 'Webhooks', name: id, enabled: true, settings: {}, updatedAt };
}

async function restart(cluster: NatsCluster): Promise<void> {
  for (const node of cluster.nodes) {
    await node.kill('SIGKILL');
    await node.start();
  }
}

/** During an election a write is refused; the writer's callers try again, and so do we. */
async function writeUntilTaken(write: () => Promise<void>): Promise<void> {
  let lastError: unknown;
  const isTaken = () =>
    write().then(
      () => true,
      (error: unknown) => {
        lastError = error;
        return false;
      },
    );
  await until(isTaken, 40_000, () => lastError);
}

type Expected = { hash: string; id: string | undefined };

function sees(view: ConfigView, { hash, id }: Expected, withinMs = PROMPTLY_MS): Promise<number> {
  return until(() => view.sourceByKeyHash(hash)?.id === id, withinMs);
}
