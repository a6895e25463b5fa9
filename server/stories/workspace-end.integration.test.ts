/** The end of a workspace over a whole stack: the grace time, the way back, and what is left afterwards. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { InstallationWorkspaces, Workspace } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { removeNext } from '../src/control/jobs/remove-workspaces.ts';
import { hashPassword } from '../src/control/access/password.ts';
import { openLog } from '../src/log.ts';
import { addDefinition } from '../testing/definitions.ts';
import { addMember, addToken, addWorkspace } from '../testing/control.ts';
import { columnsWith, streamsWith } from '../testing/find-traces.ts';
import { openReceiver } from '../testing/receiver.ts';
import { addScene, type Asked, openStack, type PerhapsSeen, type Scene, type Stack } from '../testing/stack.ts';
import { order } from '../testing/audiences.ts';
import { until } from '../testing/until.ts';

const PASSWORD = 'correct horse battery';
const MARK = 'marked-person';
const log = openLog({ level: 'silent', pretty: false });
let stack: Stack;
let people = 0;

before(async () => {
  stack = await openStack();
  await addWorkspace(stack.store(), 'Spare');
});
after(() => stack[Symbol.asyncDispose]());

type Tenant = { id: string; name: string; as: Asked & PerhapsSeen; owner: Person; scene: Scene; userId: string };
type Person = (method: string, path: string, body?: object) => Promise<{ status: number; text: string }>;

async function signIn(email: string, workspaceId: string): Promise<Person> {
  const origin = stack.controlUrl().replace('/api/v1', '');
  const ours = { Origin: origin, 'Millrace-Csrf': '1', 'Content-Type': 'application/json' };
  const answer = await fetch(`${stack.controlUrl()}/session`, {
    method: 'POST',
    headers: ours,
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  const cookie = answer.headers.getSetCookie().map((each) => each.split(';')[0]).join('; '); // biome-ignore format: short
  return async (method, path, body) => {
    const headers = { ...ours, Cookie: cookie, 'Millrace-Workspace': workspaceId };
    const asked = await fetch(`${stack.controlUrl()}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) }); // biome-ignore format: short
    return { status: asked.status, text: await asked.text() };
  };
}

/** With calls in every store: delivered, waiting, dead, refused, a profile, a replay, an erased user. */
async function openTenant(url: string): Promise<Tenant> {
  const store = stack.store();
  const name = `Tenant ${(people += 1)}`;
  const id = await addWorkspace(store, name);
  const email = `owner${people}@example.com`;
  const passwordHash = await hashPassword(PASSWORD);
  const userId = await addMember(store, id, { email, passwordHash, role: 'owner' });
  const as = stack.as(await addToken(store, id, { role: 'owner' }));
  const scene = await addScene(as, url);
  return { id, name, as, scene, userId, owner: await signIn(email, id) };
}

const end = ({ owner, name }: Tenant, change: object = {}) =>
  owner('POST', '/workspace/deletion', { name, password: PASSWORD, ...change });
const isOver = ({ id }: Tenant) => stack.sql(`UPDATE workspace_ends SET ends_at = now() WHERE workspace_id = $1`, [id]);

const lease = ({ id }: Tenant, until: string) =>
  stack.sql(`UPDATE workspace_ends SET leased_until = ${until} WHERE workspace_id = $1`, [id]);

async function stepOf({ id }: Tenant): Promise<string | undefined> {
  const [row] = await stack.sql<{ step: string }>('SELECT step FROM workspace_ends WHERE workspace_id = $1', [id]);
  return row?.step;
}

function step() {
  const side = {
    forget: (names: { sourceIds: readonly string[]; destinationIds: readonly string[] }) => forget(names),
  };
  return removeNext({
    store: stack.store(),
    side,
    changed: () => void stack.sql('SELECT 1'),
    now: () => new Date(),
    log,
  });
}

/** As the control side does, with the rights of the inspector. */
async function forget(names: { sourceIds: readonly string[]; destinationIds: readonly string[] }): Promise<void> {
  const { forgetWorkspace } = await import('../src/stream/deliveries/forget-workspace.ts');
  const { openQuarantineBox } = await import('../src/stream/quarantine/quarantine.ts');
  await forgetWorkspace(names, { manager: stack.manager, quarantine: openQuarantineBox(stack.manager) });
}

suite('a workspace that comes to its end', () => {
  test('is confirmed with its name and the password of a person, and never by a token', async () => {
    await using receiver = await openReceiver();
    const tenant = await openTenant(receiver.url);
    assert.equal((await end(tenant, { name: 'Other' })).status, 400);
    assert.equal((await end(tenant, { password: 'wrong password' })).status, 401);
    const body = { name: tenant.name, password: PASSWORD };
    assert.equal((await tenant.as.ask('POST', '/workspace/deletion', body)).status, 403);
    const asked = await end(tenant);
    assert.equal(asked.status, 201, asked.text);
    const days = (Date.parse((JSON.parse(asked.text) as Workspace).endsAt ?? '') - Date.now()) / 86_400_000;
    assert.ok(days > 13.9 && days < 14.1, asked.text);
    assert.equal((await end(tenant)).status, 409, 'once');
  });

  test('takes no calls, keeps what waits, can be read, and goes on as before when it is undone', async () => {
    let isDown = true;
    await using receiver = await openReceiver((_, response) => response.writeHead(isDown ? 503 : 200).end());
    const tenant = await openTenant(receiver.url);
    await tenant.as.send(tenant.scene.writeKey, [order('u1', 1, 'waits')]);
    await until(() => receiver.received.length > 0);
    assert.equal((await end(tenant)).status, 201);
    await until(async () => (await tenant.as.send(tenant.scene.writeKey, [order('u1', 1, 'late')])) === 403);
    await until(() => stack.view().destination(tenant.scene.destinationId)?.paused === true);
    assert.equal((await tenant.as.ask('GET', '/sources')).status, 200);
    assert.match((await tenant.owner('GET', '/audit-log/export')).text, /workspace\.deletion_asked/);
    isDown = false;
    const before = receiver.received.length;
    assert.equal((await tenant.owner('DELETE', '/workspace/deletion')).status, 204);
    assert.equal((await tenant.owner('DELETE', '/workspace/deletion')).status, 404);
    await until(() => receiver.received.length > before);
    await until(async () => (await tenant.as.send(tenant.scene.writeKey, [order('u1', 1, 'again')])) === 200);
    assert.equal((await tenant.as.get<Workspace>('GET', '/workspace')).endsAt, null);
  });

  test('of others can be ended and brought back by an operator, who sees it in the list; both logs tell', async () => {
    await using receiver = await openReceiver();
    const tenant = await openTenant(receiver.url);
    const spare = await addWorkspace(stack.store(), 'Of the operator');
    const email = `op${(people += 1)}@example.com`;
    const passwordHash = await hashPassword(PASSWORD);
    const id = await addMember(stack.store(), spare, { email, passwordHash, role: 'viewer' });
    await stack.sql(`INSERT INTO operators VALUES ($1, 'user', 'test')`, [id]);
    await stack.sql(`INSERT INTO operators SELECT id, 'token', 'test' FROM tokens WHERE created_by = 'bootstrap'`);
    const operator = await signIn(email, spare);
    const path = `/installation/workspaces/${tenant.id}/deletion`;
    const body = { name: tenant.name, password: PASSWORD };
    assert.equal((await tenant.owner('POST', path, body)).status, 403);
    assert.equal((await operator('POST', path, body)).status, 201);
    type Listed = Static<typeof InstallationWorkspaces>;
    const listed = JSON.parse((await operator('GET', '/installation/workspaces?limit=100')).text) as Listed;
    assert.ok(listed.items.find((each) => each.id === tenant.id)?.endsAt);
    assert.match((await tenant.owner('GET', '/audit-log')).text, /workspace\.deletion_asked.*|"kind":"operator"/);
    assert.match((await operator('GET', '/installation/audit-log')).text, /workspace\.deletion_asked/);
    assert.equal((await operator('DELETE', path)).status, 204);
  });

  test('is not the last one of the installation', async () => {
    const lasting = `SELECT id FROM workspaces WHERE id NOT IN (SELECT workspace_id FROM workspace_ends)`;
    await using receiver = await openReceiver();
    const tenant = await openTenant(receiver.url);
    const others = (await stack.sql<{ id: string }>(lasting)).filter(({ id }) => id !== tenant.id);
    const year = `now() + interval '1 year'`;
    for (const { id } of others)
      await stack.sql(`INSERT INTO workspace_ends (workspace_id, asked_by, ends_at) VALUES ($1, 'test', ${year})`, [
        id,
      ]);
    assert.equal((await end(tenant)).status, 409);
    await stack.sql(`DELETE FROM workspace_ends WHERE asked_by = 'test'`);
    assert.equal((await end(tenant)).status, 201);
  });
});

suite('the removal of a workspace', () => {
  test('leaves nothing of it anywhere, whichever step a process dies in', { timeout: 240_000 }, async () => {
    await using receiver = await openReceiver(({ body }, response) =>
      response.writeHead(body.includes('dead') ? 400 : body.includes('waits') ? 503 : 200).end(body),
    );
    const tenant = await openTenant(receiver.url);
    await using kept = await openReceiver();
    const neighbour = await openTenant(kept.url);
    const { as, scene } = tenant;
    const definition = { name: 'A', kind: 'audience', when: { event: 'Order Completed', atLeast: 1 } } as const;
    const wanted = { workspaceId: tenant.id, key: 'a', destinations: [], definition };
    await addDefinition(stack.store(), wanted);
    const call = (text: string) => ({ ...order(MARK, 1, `m-${text}`), properties: { text } });
    await as.send(scene.writeKey, [call('done'), call('dead'), call('waits')]);
    await as.sendBody(scene.writeKey, { batch: [{ type: 'track', userId: MARK }] });
    await neighbour.as.send(neighbour.scene.writeKey, [order('neighbour', 1, 'n1')]);
    type Items = { items: unknown[] };
    await until(async () => (await as.get<Items>('GET', '/dead-letters')).items.length === 1);
    await until(async () => (await as.get<Items>('GET', '/deliveries')).items.length === 3);
    await until(async () => (await as.get<Items>('GET', `/sources/${scene.sourceId}/refusals`)).items.length > 0);
    await as.get('POST', '/deletion-requests', { userIds: ['erased'], suppress: true });
    await until(() => stack.view().userMark(scene.sourceId, 'erased') !== undefined);

    assert.equal((await end(tenant)).status, 201);
    assert.equal(await step(), 'none', 'nothing before its time');
    await until(() => stack.view().destination(scene.destinationId)?.paused === true);
    await isOver(tenant);
    const steps: string[] = [];
    // The process of the stack may come before the test in a step; jobs/remove-workspaces.integration.test.ts makes each one fail.
    for (let now = await stepOf(tenant); now !== undefined; now = await stepOf(tenant)) {
      const current = now;
      steps.push(current);
      await lease(tenant, 'NULL');
      await step();
      if (current === 'last') continue;
      // The process dies with the work of the step done and the step not noted: the next one begins it again.
      await stack.sql('UPDATE workspace_ends SET step = $2 WHERE workspace_id = $1', [tenant.id, current]);
      await lease(tenant, `now() + interval '1 hour'`);
      await stack.restart();
      await lease(tenant, 'NULL');
      await until(async () => {
        await step();
        return (await stepOf(tenant)) !== current;
      });
      await lease(tenant, `now() + interval '1 hour'`);
    }
    const all = ['waiting', 'engine', 'rows', 'again', 'last'];
    assert.deepEqual(
      steps,
      all.filter((each) => steps.includes(each)),
      'forward only',
    );

    for (const text of [MARK, tenant.name, `owner of ${tenant.name}`])
      assert.deepEqual([await columnsWith(stack, text), await streamsWith(stack, text)], [[], []], text);
    for (const id of [scene.sourceId, scene.destinationId]) {
      assert.deepEqual(await columnsWith(stack, id), [], id);
      // The mark of an entry that was deleted, which tells processes so; control purges it later.
      assert.deepEqual((await streamsWith(stack, id)).filter((name) => name !== 'KV_config'), []); // biome-ignore format: short
      assert.equal(stack.view().destination(id), undefined);
    }
    assert.deepEqual(await columnsWith(stack, tenant.id), ['audit_log.object_id']);
    // The anchors of its log cannot be taken back: a number and a hash.
    assert.deepEqual((await streamsWith(stack, tenant.id)).filter((name) => name !== 'AUDIT'), []); // biome-ignore format: short
    for (const stream of ['EVENTS-0', 'EVENTS-1']) assert.ok(!(await stack.textOf(stream)).includes(MARK), stream);

    assert.equal((await neighbour.as.get<Items>('GET', '/deliveries')).items.length, 1);
    assert.equal(await neighbour.as.send(neighbour.scene.writeKey, [order('neighbour', 1, 'n2')]), 200);
    await until(() => kept.received.length === 2);
    const memberless = await stack.sql<{ id: string }>('SELECT id FROM users WHERE id = $1', [tenant.userId]);
    assert.equal(memberless.length, 1, 'control removes the account a day later');
    assert.equal((await tenant.owner('GET', '/workspace')).status, 403);
  });

  test('takes no entry out of an audit log before its time', async () => {
    await using receiver = await openReceiver();
    const tenant = await openTenant(receiver.url);
    await assert.rejects(stack.sql('SELECT remove_audit_log($1)', [tenant.id]), /not come to its end/);
    await assert.rejects(
      stack
        .sql(`SELECT set_config('millrace.ended_workspace', $1, true)`, [tenant.id])
        .then(() => stack.sql('DELETE FROM audit_log WHERE workspace_id = $1', [tenant.id])),
      /permission denied|never changed/,
    );
  });
});
