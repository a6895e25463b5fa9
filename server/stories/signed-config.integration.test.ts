import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from '../testing/migrated-postgres.ts';
import { readConfig } from '../src/config.ts';
import { openReceiver } from '../testing/receiver.ts';
import { addScene, overHttp, type Scene, stackSettings } from '../testing/stack.ts';
import { type Running, startRoles } from '../src/start-roles.ts';
import { openBucketForTests } from '../testing/inspector.ts';
import { openLogLines } from '../testing/log-lines.ts';
import { until } from '../testing/until.ts';
import { track } from '../testing/samples.ts';

const HEADERS = { 'X-Api-Key': 'the-receivers-own-secret' };
const RING = { one: ring(1), both: `${ring(1)},${ring(2)}`, two: ring(2) };

suite('a NATS connection without the key ring', () => {
  test('cannot redirect a destination: deliver goes on with the last entry that control signed', async () => {
    await using bed = await openBed();
    await using running = await bed.play('collect,deliver,control');
    const scene = await bed.addScene(running);
    const signed = await bed.bucket.get(`destination.${scene.destinationId}`);
    await bed.bucket.put(`destination.${scene.destinationId}`, signed.replace(bed.receiver.url, bed.thief.url));
    await until(() => bed.logged('config.refused', 'forged') > 0);
    await bed.send(scene, 'Redirected');
    await until(() => bed.receiver.received.some(({ body }) => body.includes('Redirected')));
    assert.equal(bed.receiver.received.at(-1)?.headers['x-api-key'], HEADERS['X-Api-Key']);
    await bed.bucket.remove(`destination.${scene.destinationId}`);
    await until(() => bed.logged('config.refused', 'unsigned') > 0);
    await bed.send(scene, 'Deleted');
    await until(() => bed.receiver.received.some(({ body }) => body.includes('Deleted')));
    assert.deepEqual(bed.thief.received, []);
  });

  test('cannot redirect a destination for a process that starts later: its deliveries wait until control has put it right', async () => {
    await using bed = await openBed();
    const { scene, other } = await bed.setUp();
    const key = `destination.${scene.destinationId}`;
    const signed = await bed.bucket.get(key);
    const forgeries = [
      signed.replace(bed.receiver.url, bed.thief.url),
      signed.replace(bed.receiver.url, bed.thief.url).replace(/,"mac":.*/, '}'),
      await bed.bucket.get(`destination.${other}`),
    ];
    for (const [index, forgery] of forgeries.entries()) {
      await bed.bucket.put(key, forgery);
      const refused = bed.logged('config.refused');
      {
        await using _ = await bed.play('collect,deliver');
        await until(() => bed.logged('config.refused') > refused);
        await bed.send(scene, `Waited${index}`);
      }
      await using _ = await bed.play('deliver,control');
      await until(() => bed.receiver.received.some(({ body }) => body.includes(`Waited${index}`)));
    }
    assert.deepEqual(bed.thief.received, []);
  });
});

suite('an upgrade from a version that signs nothing', () => {
  test('takes nothing up before control has signed the entries, and loses nothing', async () => {
    await using bed = await openBed();
    const { scene } = await bed.setUp();
    await bed.stripAll();
    {
      await using _ = await bed.play('collect,deliver');
      await bed.send(scene, 'Early');
      await until(() => bed.logged('config.refused', 'unsigned') > 0);
    }
    assert.deepEqual(await bed.laneSubjects(), [], 'nothing was put into lanes meanwhile');
    await using _ = await bed.play('collect,deliver,control');
    await until(() => bed.receiver.received.some(({ body }) => body.includes('Early')));
  });

  test('goes on without a break if it is told to allow unsigned entries', async () => {
    await using bed = await openBed({ MILLRACE_UNSIGNED_CONFIG: 'allow' });
    const { scene } = await bed.setUp();
    await bed.stripAll();
    await using _ = await bed.play('collect,deliver');
    await bed.send(scene, 'Meanwhile');
    await until(() => bed.receiver.received.some(({ body }) => body.includes('Meanwhile')));
    assert.equal(bed.logged('config.refused'), 0);
  });
});

test('a rotated key ring signs every entry anew before the old key may go, and deliveries go on with the new key alone', async () => {
  await using bed = await openBed();
  const { scene } = await bed.setUp();
  {
    await using _ = await bed.play('collect,deliver,control', { MILLRACE_KEYS: RING.both });
    await until(() => bed.logged('ring.rotated') > 0);
    assert.deepEqual(await bed.macKeys(), new Set(['2']));
  }
  await using _ = await bed.play('collect,deliver', { MILLRACE_KEYS: RING.two });
  await bed.send(scene, 'Rotated');
  await until(() => bed.receiver.received.some(({ body }) => body.includes('Rotated')));
});

function ring(id: number): string {
  return `${id}:${Buffer.alloc(32, id).toString('base64')}`;
}

/** Engines and two receivers; each test starts the roles that it needs over them. */
async function openBed(change: Record<string, string> = {}) {
  await using opening = new AsyncDisposableStack();
  const nats = opening.use(await startNatsCluster());
  const postgres = opening.use(await startMigratedPostgres());
  const receiver = opening.use(await openReceiver());
  const thief = opening.use(await openReceiver());
  const bucket = opening.use(await openBucketForTests(nats.url));
  const { log, of } = openLogLines();
  const at = { collect: 0, control: 0 };
  const asked = overHttp({
    controlUrl: () => `http://127.0.0.1:${at.control}`,
    collectUrl: () => `http://127.0.0.1:${at.collect}`,
  });
  const play = async (roles: string, more: Record<string, string> = {}) => {
    const settings = { ...stackSettings(nats.url, postgres), MILLRACE_METRICS_PORT: '0', ...change, ...more };
    const read = readConfig({ ...settings, MILLRACE_ROLES: roles });
    if (!read.ok) throw new Error(read.problems.join(', '));
    const running = await startRoles(read.value, log);
    at.collect = running.collectPort ?? 0;
    at.control = running.control?.port ?? 0;
    return running;
  };
  /** By the API, as soon as all roles have heard of it. */
  const newScene = ({ view }: Running) => {
    if (view === undefined) throw new Error('there is no collect and no deliver here');
    return addScene({ ...asked, view: () => view }, receiver.url, {
      targets: [{ url: receiver.url, headers: HEADERS }],
    });
  };
  const open = opening.move();
  return {
    receiver,
    thief,
    bucket,
    play,
    addScene: newScene,
    /** Makes two destinations, then stops all roles. */
    async setUp(): Promise<{ scene: Scene; other: string }> {
      await using running = await play('collect,deliver,control');
      const scene = await newScene(running);
      const { destinationId: other } = await newScene(running);
      return { scene, other };
    },
    async send({ writeKey }: Scene, event: string): Promise<void> {
      await until(async () => (await asked.send(writeKey, [track(event)])) === 200);
    },
    logged: (msg: string, why?: string) => of(msg).filter((line) => why === undefined || line['why'] === why).length,
    /** As an older version would have written them. */
    async stripAll(): Promise<void> {
      for (const [key, text] of await bucket.all()) await bucket.put(key, text.replace(/,"mac":.*/, '}'));
    },
    macKeys: async () => new Set([...(await bucket.all()).values()].map((text) => /"mac":"(\d+):/.exec(text)?.[1])),
    laneSubjects: () => bucket.subjectsOf('LANES-0'),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
