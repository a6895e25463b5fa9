import assert from 'node:assert/strict';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { suite, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startPostgresServer } from '@millrace/engines';
import { openStore, StoreUnavailable } from './open-store.ts';

suite('a connection that PostgreSQL ends', () => {
  test('in the same packet in which the login ends fails the transaction, not the process', async () => {
    await using server = await startPostgresServer();
    await using wire = await openWire(server.url);
    await using store = await openStore(wire.url);
    wire.endAll();
    wire.isEndingLogins = true;
    for (let nth = 0; nth < 3; nth += 1) {
      await assert.rejects(
        store.asSystem((tx) => tx.query('SELECT 1')),
        StoreUnavailable,
      );
    }
    wire.isEndingLogins = false;
    assert.deepEqual(await store.asSystem((tx) => tx.query('SELECT 1 AS one')), [{ one: 1 }]);
  });

  test('between two queries of a transaction is the loss of a connection', async () => {
    await using server = await startPostgresServer();
    await using store = await openStore(server.url);
    const halves = store.asSystem(async (tx) => {
      const [row] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      server.run(`SELECT pg_terminate_backend(${row?.pid}, 10000)`);
      // The event of the loss is in our socket by now, and comes before the next query.
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      return tx.query('SELECT 1');
    });
    await assert.rejects(halves, StoreUnavailable);
    assert.deepEqual(await store.asSystem((tx) => tx.query('SELECT 1 AS one')), [{ one: 1 }]);
  });
});

test('connections of a server that fell silent cost one wait, not one each', async () => {
  await using server = await startPostgresServer();
  await using wire = await openWire(server.url);
  await using store = await openStore(wire.url);
  const ask = () => store.asSystem((tx) => tx.query('SELECT 1 AS one'));
  await Promise.all([ask(), ask(), ask(), ask()]);
  wire.hushAll();
  await assert.rejects(ask(), StoreUnavailable);
  assert.deepEqual(await ask(), [{ one: 1 }]);
});

suite('a condition that is asked again and again', () => {
  test('is answered with what is committed, and an error in it leaves the connection usable', async () => {
    await using server = await startPostgresServer();
    await using store = await openStore(server.url);
    server.run('CREATE TABLE waiting (one int); GRANT SELECT ON waiting TO PUBLIC');
    const isWaiting = () => store.holds('EXISTS (SELECT FROM waiting)');
    assert.equal(await isWaiting(), false);
    server.run('INSERT INTO waiting VALUES (1)');
    assert.equal(await isWaiting(), true);
    await assert.rejects(store.holds('EXISTS (SELECT FROM nowhere)'), /nowhere/);
    assert.equal(await isWaiting(), true);
    assert.deepEqual(await store.asSystem((tx) => tx.query('SELECT 1 AS one')), [{ one: 1 }]);
  });

  test('goes with the others of the same turn in one transaction, and one that fails leaves them alone', async () => {
    await using server = await startPostgresServer();
    await using wire = await openWire(server.url);
    await using store = await openStore(wire.url);
    wire.sent.length = 0;
    assert.deepEqual(await Promise.all(['1 < 2', 'false OR NULL', 'true'].map(store.holds)), [true, false, true]);
    assert.equal(wire.sent.join('').split('BEGIN').length - 1, 1);
    const asked = await Promise.allSettled(['true', 'EXISTS (SELECT FROM nowhere)', 'false'].map(store.holds));
    assert.deepEqual(
      asked.map((each) => (each.status === 'fulfilled' ? each.value : 'failed')),
      [true, 'failed', false],
    );
  });

  test('tells that the database is away', async () => {
    await using server = await startPostgresServer();
    await using wire = await openWire(server.url);
    await using store = await openStore(wire.url);
    wire.endAll();
    wire.isEndingLogins = true;
    await assert.rejects(store.holds('true'), StoreUnavailable);
    wire.isEndingLogins = false;
    assert.equal(await store.holds('true'), true);
  });
});

/** ReadyForQuery, idle: the last message of a login. */
const READY = Buffer.from('5a0000000549', 'hex');

function fatal(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');
  const head = Buffer.from('E\0\0\0\0');
  head.writeUInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** Stands between a process and PostgreSQL, can end a connection with the packet that ends its login, and can swallow what clients say. */
async function openWire(databaseUrl: string) {
  const to = new URL(databaseUrl);
  const ends = new Set<() => void>();
  const hushes = new Set<() => void>();
  const server = createServer((near) => {
    const far = createConnection(Number(to.port), to.hostname);
    const end = () => void [near.destroy(), far.destroy()];
    ends.add(end);
    hushes.add(() => void near.unpipe(far));
    near.on('error', end).on('close', end).pipe(far);
    near.on('data', (chunk: Buffer) => wire.sent.push(chunk.toString('latin1')));
    far.on('error', end).on('close', end);
    far.on('data', (chunk: Buffer) => {
      const isLogin = wire.isEndingLogins && chunk.subarray(-READY.length).equals(READY);
      if (isLogin) near.end(Buffer.concat([chunk, fatal()]));
      else near.write(chunk);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endAll = () => ends.forEach((end) => end());
  const wire = {
    url: url.href,
    isEndingLogins: false,
    /** Clients sent these. */
    sent: [] as string[],
    endAll,
    /** PostgreSQL hears nothing more of the clients that are connected, and they hear nothing of it. */
    hushAll: () => hushes.forEach((hush) => hush()),
    async [Symbol.asyncDispose]() {
      endAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return wire;
}
