import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { jetstreamManager } from '@nats-io/jetstream';
import { errors, headers } from '@nats-io/nats-core';
import { openLog } from '../../log.ts';
import { connectNats } from './connect-nats.ts';
import { readBatch, readReplica, readSubject } from './read-subject.ts';

const log = openLog({ level: 'silent', pretty: false });
const READS = 100;

/** A stream with ten messages of two subjects, and the number of subscriptions that NATS has for the connection. */
async function openBed() {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await startNatsCluster({ nodes: 1 }));
  const connection = opening.use(await connectNats({ url: cluster.adminUrl, name: 'reader', log }));
  const { nc } = connection;
  const manager = await jetstreamManager(nc);
  await manager.streams.add({ name: 'S', subjects: ['s.*'], allow_direct: true });
  for (let count = 0; count < 10; count += 1) await nc.request(`s.${count % 2}`, String(count));
  const open = opening.move();
  return {
    nc,
    manager,
    async subscriptions() {
      await nc.flush();
      const answer = await fetch(`${cluster.nodes[0]?.monitorUrl}/connz`);
      const { connections } = (await answer.json()) as { connections: { name: string; subscriptions: number }[] };
      return connections.find(({ name }) => name === 'reader')?.subscriptions;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

const text = ({ data }: { data: Uint8Array }) => Buffer.from(data).toString();

suite('a read of a subject', () => {
  test('has the messages from a sequence on, in their order, and none where there is none', async () => {
    await using bed = await openBed();
    const read = (subject: string, from: number, most: number) =>
      readSubject(bed.manager, { stream: 'S', subject, from }, most);
    assert.deepEqual((await read('s.1', 3, 3)).map(text), ['3', '5', '7']);
    assert.deepEqual(await read('s.1', 11, 3), []);
    assert.deepEqual(await read('s.other', 1, 3), []);
    await assert.rejects(readReplica(bed.manager, { stream: 'NONE', subject: 's.1', from: 1 }, 3));
  });

  test('leaves no subscription behind, whatever the answer', async () => {
    await using bed = await openBed();
    const before = await bed.subscriptions();
    for (let count = 0; count < READS; count += 1) {
      await readReplica(bed.manager, { stream: 'S', subject: 's.0', from: 1 }, count);
      await readReplica(bed.manager, { stream: 'S', subject: 's.none', from: 1 }, 2);
    }
    await assert.rejects(readReplica(bed.manager, { stream: 'NONE', subject: 's.1', from: 1 }, 3));
    assert.equal(await bed.subscriptions(), before);
  });

  test('fails when the server says nothing more in the middle of its answer', async () => {
    await using bed = await openBed();
    const before = await bed.subscriptions();
    const half = headers();
    for (const [name, value] of [
      ['Nats-Stream', 'HALF'],
      ['Nats-Sequence', '1'],
      ['Nats-Num-Pending', '1'],
    ] as const)
      half.append(name, value);
    const server = bed.nc.subscribe('$JS.API.DIRECT.GET.HALF', {
      callback: (_, message) => void message.respond('first', { headers: half }),
    });
    const reading = readBatch(bed.manager, { stream: 'HALF', subject: 's.1', from: 1 }, 2, 200);
    await assert.rejects(reading, errors.TimeoutError);
    server.unsubscribe();
    assert.equal(await bed.subscriptions(), before);
  });
});
