import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { addToken, addWorkspace, startTestControl, type TestControl } from '../../../testing/control.ts';
import { attempted } from '../../../testing/outcomes.ts';
import { writeOutcomes } from '../../record/write-outcomes.ts';
import { StoreUnavailable } from '../../store/open-store.ts';
import { claimEnded, closeWorkspace, undoWorkspaceEnd } from '../../store/workspace-ends.ts';
import { tablesOfWorkspaces } from '../../store/workspace-rows.ts';
import type { DeliverySide } from '../../stream/open-delivery-side.ts';
import { removeNext, type RemovalNeeds } from './remove-workspaces.ts';

/** At every use with `node server/src/control/jobs/remove-workspaces.integration.test.ts --full`; else at every fourth, from another one each time. */
const STEP = process.argv.includes('--full') ? 1 : 4;
let control: TestControl;
let deadLetters: DeliverySide['deadLetters'];
const opened = new AsyncDisposableStack();
let letters = 0;

before(async () => {
  control = opened.use(await startTestControl());
  ({ deadLetters } = opened.use(await control.stream.deliverySide()));
  await addWorkspace(control.store, 'Stays');
});
after(() => opened.disposeAsync());

const sql = <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
  control.store.asSystem((tx) => tx.query<Row>(text, values));

/** A workspace with rows in several tables and a dead letter, whose time is over. */
async function openEnded() {
  const id = await addWorkspace(control.store, 'Ends');
  const token = await addToken(control.store, id, { role: 'owner' });
  const source = await control.ask('POST', '/api/v1/sources', { token, body: { name: 'S' } });
  const sourceId = String(source.body['id']);
  const settings = { targets: [{ url: 'https://example.com/' }] };
  const body = { sourceId, catalog: 'Webhooks', settings };
  const destinationId = String((await control.ask('POST', '/api/v1/destinations', { token, body })).body['id']);
  const recording = { sample: 1, rows: 1, recordsFrom: '2000-01-01', knownPartitions: new Set<string>() };
  const entry = { ...attempted(1, 'retry', 503), workspaceId: id, sourceId, destinationId };
  await control.store.asSystem((tx) => writeOutcomes(tx, [entry], recording));
  await deadLetters.append(destinationId, `letter ${(letters += 1)}`, '{}');
  const deletedId = await addDeleted(token);
  const end = `INSERT INTO workspace_ends (workspace_id, asked_by, ends_at) VALUES ($1, 'test', now())`;
  await sql(end, [id]);
  return { id, destinationIds: [destinationId, deletedId] };
}

/** The destination of a source that its owner deleted before the end; it has left a dead letter. */
async function addDeleted(token: string): Promise<string> {
  const source = await control.ask('POST', '/api/v1/sources', { token, body: { name: 'Deleted' } });
  const sourceId = String(source.body['id']);
  const body = { sourceId, catalog: 'Webhooks', settings: { targets: [{ url: 'https://example.com/' }] } };
  const id = String((await control.ask('POST', '/api/v1/destinations', { token, body })).body['id']);
  await deadLetters.append(id, `letter ${(letters += 1)}`, '{}');
  assert.equal((await control.ask('DELETE', `/api/v1/sources/${sourceId}`, { token })).status, 204);
  return id;
}

/** Fails in place of the nth use of PostgreSQL or NATS, and in all uses after it: a process that has died does nothing more. */
function dyingAt(nth: number): RemovalNeeds {
  let uses = 0;
  const die = () => {
    uses += 1;
    if (uses >= nth) throw new StoreUnavailable('died');
  };
  const { store, needs } = control;
  const dying =
    <Args extends unknown[], T>(use: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      die();
      return use(...args);
    };
  const asSystem = dying(store.asSystem);
  const inWorkspace = dying(store.inWorkspace);
  const side = { forget: dying(needs.side.forget) };
  return { ...needs, store: { ...store, asSystem, inWorkspace }, side };
}

/** There is no projector here: the test stands in for it. */
async function runToEnd(needs: RemovalNeeds): Promise<void> {
  for (;;) {
    const done = await removeNext(needs);
    if (done === 'none') return;
    await sql('DELETE FROM outbox');
  }
}

async function leftOf({ id, destinationIds }: { id: string; destinationIds: string[] }): Promise<string[]> {
  const found: string[] = [];
  for (const { name, by } of await control.store.asSystem(tablesOfWorkspaces)) {
    if (by === 'profile_key') continue;
    if ((await sql(`SELECT 1 AS one FROM ${name} WHERE workspace_id = $1 LIMIT 1`, [id])).length > 0) found.push(name);
  }
  for (const [
    table,
    column,
  ] of [['audit_log', 'workspace_id'], ['workspaces', 'id'], ['workspace_ends', 'workspace_id']] as const) // biome-ignore format: short
    if ((await sql(`SELECT 1 AS one FROM ${table} WHERE ${column} = $1 LIMIT 1`, [id])).length > 0) found.push(table);
  for (const destinationId of destinationIds)
    if ((await control.needs.side.deadLetters.read(destinationId, 1, 1)).length > 0) found.push('DEAD');
  return found;
}

suite('the removal of a workspace', () => {
  test('goes on from wherever a process died, until nothing is left', { timeout: 300_000 }, async () => {
    for (let nth = 1 + randomInt(STEP); ; nth += STEP) {
      const ended = await openEnded();
      const isDead = await runToEnd(dyingAt(nth)).then(
        () => false,
        () => true,
      );
      // The lease of a process that died ends by itself.
      await sql('UPDATE workspace_ends SET leased_until = NULL');
      await runToEnd(control.needs);
      assert.deepEqual(await leftOf(ended), [], `died at use ${nth}`);
      if (!isDead) break;
      assert.ok(nth < 500);
    }
    assert.deepEqual((await sql<{ name: string }>('SELECT name FROM workspaces')).map(({ name }) => name), ['Stays']); // biome-ignore format: short
  });

  test('takes nothing away when an owner undoes the end between the claim and the first step', async () => {
    const { id } = await openEnded();
    await control.store.asSystem((tx) => claimEnded(tx, 1_000));
    assert.equal(await control.store.asSystem((tx) => undoWorkspaceEnd(tx, id)), true);
    assert.equal(await control.store.asSystem((tx) => closeWorkspace(tx, id)), false);
    assert.equal((await sql('SELECT 1 AS one FROM tokens WHERE workspace_id = $1', [id])).length, 1);
    await sql('DELETE FROM workspaces WHERE id = $1', [id]);
  });

  test('lets nobody in by single sign-on once it has begun', async () => {
    const { id } = await openEnded();
    const connection = `INSERT INTO sso_connections (workspace_id, id, issuer, client_id, client_secret_sealed, groups_claim, group_roles)
      VALUES ($1, $1, 'https://idp.example', 'c', '', 'groups', '[]')`;
    await sql(connection, [id]);
    assert.equal(await removeNext(control.needs), 'step');
    assert.deepEqual(await sql('SELECT 1 AS one FROM sso_connections WHERE workspace_id = $1', [id]), []);
    await runToEnd(control.needs);
  });

  test('waits for the projector, and for its time', async () => {
    const { id } = await openEnded();
    await sql(`UPDATE workspace_ends SET ends_at = now() + interval '1 hour'`);
    assert.equal(await removeNext(control.needs), 'none');
    await sql('UPDATE workspace_ends SET ends_at = now()');
    const done: string[] = [];
    for (let i = 0; i < 5; i += 1) done.push(await removeNext(control.needs));
    assert.deepEqual(done, ['step', 'step', 'step', 'waits', 'waits']);
    assert.equal((await sql('SELECT 1 AS one FROM workspaces WHERE id = $1', [id])).length, 1);
    await sql('DELETE FROM outbox');
    await runToEnd(control.needs);
    assert.equal((await sql('SELECT 1 AS one FROM workspaces WHERE id = $1', [id])).length, 0);
  });
});
