/**
 * A user is erased while compute reads the past of a new definition, with every role and both engines. The test holds the profile of another
 * user, as a reader would, and compute waits there: before it has locked the profile of the erased user, or after that.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { profileKey, type ProfileKey } from '../src/compute/profiles/profile-key.ts';
import type { Tx } from '../src/store/open-store.ts';
import { allFolded, type Identify } from '../testing/audiences.ts';
import { addToken, addWorkspace } from '../testing/control.ts';
import { columnsWith, streamsWith } from '../testing/find-traces.ts';
import { openReceiver } from '../testing/receiver.ts';
import { addDestination, addScene, ended, openStack, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

const spent = { event: 'Order', sum: 'properties.total', atLeast: 1 };
const ordered = { event: 'Order', window: '30d', atLeast: 1 };

/** Compute reads stored events for the first profiles, stored events for a measure, or the profiles themselves. */
const READS = [
  { name: 'the first profiles', isFirst: true, when: ordered },
  { name: 'a new measure', isFirst: false, when: spent },
  { name: 'the members', isFirst: false, when: ordered },
];

let stack: Stack;
before(async () => void (stack = await openStack()));
after(() => stack[Symbol.asyncDispose]());

/** An id whose key is before, or after, all of these. */
function idBeside(workspaceId: string, keys: readonly ProfileKey[], side: 'before' | 'after'): string {
  const [first = '', last = ''] = [keys.toSorted()[0], keys.toSorted().at(-1)];
  for (;;) {
    const id = `stays-${randomUUID()}`;
    const key = profileKey(workspaceId, 'user', id);
    if (side === 'before' ? key < first : key > last) return id;
  }
}

/** How many transactions wait for a lock. */
async function waiting(tx: Tx): Promise<number> {
  return (await tx.query('SELECT 1 AS one FROM pg_locks WHERE NOT granted')).length;
}

// oxlint-disable-next-line max-lines-per-function -- one story
async function eraseInTheMiddle(read: (typeof READS)[number], side: 'before' | 'after'): Promise<void> {
  const store = stack.store();
  const workspaceId = await addWorkspace(store);
  const tenant = stack.as(await addToken(store, workspaceId, { role: 'owner' }));
  await using shop = await openReceiver();
  await using told = await openReceiver();
  const scene = await addScene(tenant, shop.url);
  const destinationId = await addDestination(tenant, scene.sourceId, { targets: [{ url: told.url }] });
  await until(() => tenant.view().destination(destinationId) !== undefined);
  const [USER, PHONE] = [`user-${randomUUID()}`, `phone-${randomUUID()}`];
  const keys = [profileKey(workspaceId, 'user', USER), profileKey(workspaceId, 'anonymous', PHONE)];
  const stays = idBeside(workspaceId, keys, side);
  const order = { type: 'track', event: 'Order', properties: { total: 5 } };
  const calls = [{ ...order, userId: USER, anonymousId: PHONE }, { ...order, userId: stays }, { ...order, userId: USER }]; // biome-ignore format: short
  assert.equal(await tenant.send(scene.writeKey, calls), 200);
  await until(() => shop.received.length === calls.length);
  type Made = { id: string; state: string };
  const create = (name: string, when: object, destinations: string[]) =>
    tenant.get<Made>('POST', '/definitions', { kind: 'audience', name, when, destinations });
  const live = ({ id }: Made) =>
    until(async () => (await tenant.get<Made>('GET', `/definitions/${id}`)).state === 'live');
  if (!read.isFirst) await live(await create('Known', { event: 'Seen', atLeast: 1 }, []));

  const { made, erasing } = await store.asSystem(async (tx) => {
    const held = profileKey(workspaceId, 'user', stays);
    await tx.query('INSERT INTO profile_claims (profile_key) VALUES ($1)', [held]);
    await tx.query('SELECT 1 AS one FROM profiles WHERE profile_key = $1 FOR UPDATE', [held]);
    const created = await create('Buyers', read.when, [destinationId]);
    await until(async () => (await waiting(tx)) === 1);
    const request = tenant.get<{ id: string }>('POST', '/deletion-requests', { userIds: [USER] });
    // With the lock of the erased user, the work on the past is waited for; without it, the erasure comes first.
    if (side === 'before') await request;
    else await until(async () => (await waiting(tx)) === 2);
    await tx.query('DELETE FROM profile_claims WHERE profile_key = $1', [held]);
    return { made: created, erasing: request };
  });
  const { id } = await erasing;
  await live(made);
  await allFolded(stack);
  await ended(tenant, `/deletion-requests/${id}`, 60_000);
  const heard = () => told.received.map(({ body }) => JSON.parse(body) as Identify).filter(({ type }) => type === 'identify'); // biome-ignore format: short
  await until(() => heard().some(({ userId }) => userId === stays));
  if (side === 'before') assert.ok(!heard().some(({ userId }) => userId === USER), 'nobody hears of the erased user');
  const dashed = keys.map((key) => key.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
  for (const text of [USER, PHONE, ...keys, ...dashed]) {
    await until(async () => (await streamsWith(stack, text)).length === 0);
    assert.deepEqual([text, await columnsWith(stack, text)], [text, []]);
  }
  const { size } = await tenant.get<{ size: number }>('GET', `/definitions/${made.id}`);
  assert.equal(size, 1);
}

suite('a user who is erased while the past is read', () => {
  for (const read of READS) {
    test(`leaves no trace in ${read.name} when the erasure comes first`, { timeout: 120_000 }, () =>
      eraseInTheMiddle(read, 'before'),
    );
    test(`leaves no trace in ${read.name} when the erasure has to wait`, { timeout: 120_000 }, () =>
      eraseInTheMiddle(read, 'after'),
    );
  }
});
