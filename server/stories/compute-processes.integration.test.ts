import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { openAudience, order, streamsRead } from '../testing/audiences.ts';
import { serverArgs } from '../testing/server-program.ts';
import { type Stack, stackSettings } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

const OTHERS = { MILLRACE_ROLES: 'collect,deliver,control' };

/** A compute process that can be killed. */
function startCompute(stack: Stack) {
  const settings = { ...stackSettings(stack.natsUrl, stack.postgres), MILLRACE_ROLES: 'compute' };
  const env = { ...settings, MILLRACE_METRICS_PORT: '0', MILLRACE_LOG_LEVEL: 'error' };
  const child = spawn(process.execPath, serverArgs(), { env, stdio: 'inherit' });
  const gone = once(child, 'exit');
  return {
    async kill(signal: NodeJS.Signals): Promise<void> {
      child.kill(signal);
      await gone;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

const holders = async (stack: Stack) =>
  (await stack.sql<{ holder: string | null }>('SELECT holder FROM compute_positions')).map(({ holder }) => holder);

suite('compute processes', () => {
  test('take over from one that is killed, and every entry is told once', async () => {
    await using bed = await openAudience(OTHERS);
    const { stack, scene } = bed;
    const users = Array.from({ length: 60 }, (_, nth) => `u${nth}`);
    let sent = 0;
    const send = async (count: number) => {
      for (const userId of users.slice(sent, sent + count)) {
        assert.equal(await stack.send(scene.writeKey, [order(userId, 900, `o-${userId}`)]), 200);
      }
      sent += count;
    };
    await using first = startCompute(stack);
    await streamsRead(stack);
    await send(20);
    await until(() => bed.identifies().length > 0);
    await first.kill('SIGKILL');
    await using second = startCompute(stack);
    await send(20);
    await until(() => bed.identifies().length >= 40);
    await second.kill('SIGTERM');
    assert.ok(
      (await holders(stack)).every((holder) => holder === null),
      'a process that is stopped gives back',
    );
    await using _ = startCompute(stack);
    await send(20);
    await until(() => new Set(bed.identifies().map(({ userId }) => userId)).size === 60);
    const ids = new Map<string, Set<unknown>>();
    for (const { userId, webhookId } of bed.identifies())
      ids.set(userId, (ids.get(userId) ?? new Set()).add(webhookId));
    assert.ok(
      [...ids.values()].every((webhookIds) => webhookIds.size === 1),
      'a repeat has a known webhook-id',
    );
    const changes = await stack.sql<{ count: string }>('SELECT count(*) FROM membership_changes');
    assert.equal(changes[0]?.count, '60');
  });

  test('share the streams', async () => {
    await using bed = await openAudience(OTHERS);
    const { stack } = bed;
    await using _ = startCompute(stack);
    await streamsRead(stack);
    await using other = startCompute(stack);
    assert.ok(other);
    type Row = { holder: string | null };
    const read = `SELECT holder FROM compute_positions WHERE stream NOT IN ('relay', 'lifecycle')`;
    await until(async () => {
      const rows = (await stack.sql<Row>(read)).map(({ holder }) => holder);
      return rows.every((holder) => holder !== null) && new Set(rows).size === 2;
    });
  });

  test('mark definitions incomplete when events were trimmed before they were read, and go on', async () => {
    await using bed = await openAudience(OTHERS);
    const { stack, scene } = bed;
    await using first = startCompute(stack);
    await streamsRead(stack);
    await first.kill('SIGTERM');
    await stack.send(scene.writeKey, [order('lost', 900, 'o1')]);
    await until(() => bed.shop.received.length === 1);
    for (const stream of ['EVENTS-0', 'EVENTS-1']) await stack.manager.streams.purge(stream);
    await stack.send(scene.writeKey, [order('u1', 900, 'o2')]);
    await stack.send(scene.writeKey, [order('u2', 900, 'o3')]);
    await stack.send(scene.writeKey, [order('u3', 900, 'o4')]);
    await stack.send(scene.writeKey, [order('u4', 900, 'o5')]);
    await using _ = startCompute(stack);
    await until(() => bed.identifies().length === 4);
    const since = 'SELECT 1 FROM definitions WHERE incomplete_since IS NOT NULL';
    const isMarked = async () => (await stack.sql(since)).length === 1;
    // The stream of the lost event may have got none of the others.
    for (let nth = 0; !(await isMarked()); nth += 1)
      await stack.send(scene.writeKey, [order('more', 1, `more-${nth}`)]);
    assert.ok(!bed.identifies().some(({ userId }) => userId === 'lost'));
  });
});
