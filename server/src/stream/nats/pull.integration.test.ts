import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { AckPolicy, jetstreamManager } from '@nats-io/jetstream';
import { until } from '../../../testing/until.ts';
import { openLog } from '../../log.ts';
import { connectNats } from './connect-nats.ts';
import { pull, type PulledMessage } from './pull.ts';

const log = openLog({ level: 'silent', pretty: false });

/** A stream with a consumer that waits ten minutes for an acknowledgement, so within a test it repeats only messages that were given back. */
async function openBed() {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await startNatsCluster({ nodes: 1 }));
  const connection = opening.use(await connectNats({ url: cluster.adminUrl, name: 'pull', log }));
  const manager = await jetstreamManager(connection.nc);
  await manager.streams.add({ name: 'S', subjects: ['s.*'] });
  const addConsumer = () =>
    manager.consumers.add('S', { durable_name: 'c', ack_policy: AckPolicy.Explicit, ack_wait: 600e9 });
  await addConsumer();
  const open = opening.move();
  return {
    cluster,
    manager,
    addConsumer,
    publish: async (...texts: string[]) => {
      for (const text of texts) connection.nc.publish('s.x', text);
      await connection.nc.flush();
    },
    pull(room = () => 10) {
      const taken: PulledMessage[] = [];
      const pulling = pull({ connection, stream: 'S', consumer: 'c', room, taken: (one) => void taken.push(one), log });
      return {
        taken,
        texts: () => taken.map(({ data }) => Buffer.from(data).toString()),
        [Symbol.asyncDispose]: () => pulling[Symbol.asyncDispose](),
      };
    },
    pending: async () => (await manager.consumers.info('S', 'c')).num_ack_pending,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

suite('a pull', () => {
  test('takes messages as they come, with their place and time, and acknowledges each once', async () => {
    await using bed = await openBed();
    await using pulling = bed.pull(() => 2);
    await bed.publish('1', '2', '3');
    await until(() => pulling.taken.length === 3);
    await bed.publish('4');
    await until(() => pulling.taken.length === 4);
    assert.deepEqual(pulling.texts(), ['1', '2', '3', '4']);
    const [first] = pulling.taken;
    const stored = await bed.manager.streams.getMessage('S', { seq: 1 });
    assert.deepEqual([first?.stream, first?.subject, first?.seq, first?.redelivered], ['S', 's.x', 1, false]);
    assert.equal(Math.floor(Number(first?.timestampNanos) / 1e6), stored?.time.getTime());
    for (const message of pulling.taken) {
      message.working();
      message.ack();
      message.nak();
    }
    await until(async () => (await bed.pending()) === 0);
    assert.equal(pulling.taken.length, 4, 'an acknowledged message cannot be given back');
  });

  test('takes nothing while there is no room, and goes on when there is', async () => {
    await using bed = await openBed();
    let room = 0;
    await using pulling = bed.pull(() => room);
    await bed.publish('1', '2', '3');
    await until(async () => (await bed.manager.consumers.info('S', 'c')).num_pending === 3);
    assert.equal(pulling.taken.length, 0);
    room = 1;
    await until(() => pulling.taken.length === 3);
  });

  test('gets a message again that was given back, at once or later', async () => {
    await using bed = await openBed();
    await using pulling = bed.pull();
    await bed.publish('1', '2');
    await until(() => pulling.taken.length === 2);
    pulling.taken[0]?.nak();
    pulling.taken[1]?.nak(200);
    await until(() => pulling.taken.length === 4);
    assert.deepEqual(pulling.texts(), ['1', '2', '1', '2']);
    assert.equal(pulling.taken[2]?.redelivered, true);
  });

  test('goes on after its server was away', async () => {
    await using bed = await openBed();
    await using pulling = bed.pull();
    const [node] = bed.cluster.nodes;
    await node?.kill('SIGKILL');
    await node?.start();
    await until(() =>
      bed.publish('1').then(
        () => true,
        () => false,
      ),
    );
    await until(() => pulling.texts().includes('1'));
  });

  test('goes on when its consumer was deleted and made again', async () => {
    await using bed = await openBed();
    await using pulling = bed.pull();
    await bed.publish('1');
    await until(() => pulling.taken.length === 1);
    await bed.manager.consumers.delete('S', 'c');
    await bed.addConsumer();
    await until(() => pulling.texts().join() === '1,1');
  });

  test('ends at once, and leaves no message behind that another one would have to wait for', async () => {
    await using bed = await openBed();
    const first = bed.pull();
    const texts = Array.from({ length: 200 }, (_, index) => String(index));
    const publishing = bed.publish(...texts);
    await until(() => first.taken.length > 0);
    await first[Symbol.asyncDispose]();
    for (const message of first.taken) message.ack();
    await publishing;
    await using second = bed.pull();
    await until(() => new Set([...first.texts(), ...second.texts()]).size === texts.length);
  });
});
