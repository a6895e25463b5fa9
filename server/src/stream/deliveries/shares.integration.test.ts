import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { jetstreamManager } from '@nats-io/jetstream';
import { openLog } from '../../log.ts';
import { connectNats } from '../nats/connect-nats.ts';
import { openShares } from './shares.ts';

const log = openLog({ level: 'silent', pretty: false });

suite('shares of a stream', () => {
  test('are not used up by what the engine did not take, however often it is tried', async () => {
    await using scene = await openScene();
    const { shares } = scene;
    const letter = { stream: 'SHARED', destinationId: 'dst_1', bytes: 65_000 };
    for (let tries = 0; tries < 100; tries += 1) {
      assert.equal(await shares.storing(letter, async () => 'unavailable'), 'unavailable');
      await assert.rejects(
        shares.storing(letter, () => Promise.reject(new Error('lost'))),
        /lost/,
      );
      assert.ok(!shares.isOver('SHARED', 'dst_1'), `after ${tries} tries`);
    }
    for (let kept = 0; kept < 100; kept += 1) await shares.storing(letter, async () => 'stored');
    assert.ok(shares.isOver('SHARED', 'dst_1'), 'what it took counts');
  });

  test('are refused to nobody while the stream does not answer, and counted again when it does', async () => {
    await using scene = await openScene();
    const { shares, manager } = scene;
    const letter = { stream: 'SHARED', destinationId: 'dst_1', bytes: 65_000 };
    for (let kept = 0; kept < 100; kept += 1) await shares.storing(letter, async () => 'stored');
    assert.ok(shares.isOver('SHARED', 'dst_1'));
    await manager.streams.delete('SHARED');
    await shares.refresh();
    assert.ok(!shares.isOver('SHARED', 'dst_1'), 'nothing is known of it');
    await scene.makeStream();
    await shares.refresh();
    for (let kept = 0; kept < 100; kept += 1) await shares.storing(letter, async () => 'stored');
    assert.ok(shares.isOver('SHARED', 'dst_1'));
  });
});

async function openScene() {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await startNatsCluster());
  const connection = opening.use(await connectNats({ url: cluster.adminUrl, name: 'shares', log }));
  const manager = await jetstreamManager(connection.nc);
  const makeStream = () => manager.streams.add({ name: 'SHARED', subjects: ['shared.*'], max_bytes: 10_000_000 });
  await makeStream();
  const shares = opening.use(
    openShares({
      manager,
      streams: () => ['SHARED'],
      destinationOf: (subject) => subject.split('.')[1] ?? '',
      workspaceOf: () => 'ws_1',
      peers: () => 3,
      log,
    }),
  );
  await shares.refresh();
  const open = opening.move();
  return { shares, manager, makeStream, [Symbol.asyncDispose]: () => open.disposeAsync() };
}
