/** The audit log over a whole stack: its export, its check, and the stream of its entries to a webhook. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { verifyStandardWebhook } from '@millrace/contract';
import { type ChainEntry, checkExport, linkProblem } from '@millrace/contract/audit-chain';
import type { AuditCheck, AuditStream } from '@millrace/contract/control';
import { openReceiver, type Received } from '../testing/receiver.ts';
import { openStack, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

let stack: Stack;
before(async () => void (stack = await openStack()));
after(() => stack[Symbol.asyncDispose]());

const rename = (name: string) => stack.get('PATCH', '/workspace', { name });
const setStream = (body: object) => stack.get<AuditStream & { secret: string }>('POST', '/audit-log/stream', body);
const readStream = () => stack.get<AuditStream>('GET', '/audit-log/stream');
type Body = { workspaceId: string; entries: ChainEntry[] };
const bodyOf = ({ body }: Received) => JSON.parse(body) as Body;
const sequences = (received: readonly Received[]) =>
  received.flatMap((one) => bodyOf(one).entries.map(({ sequence }) => sequence));

async function exportLines(): Promise<string[]> {
  const answer = await fetch(`${stack.controlUrl()}/audit-log/export`, {
    headers: { Authorization: 'Bearer a-bootstrap-token-of-more-than-32-characters' },
  });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /ndjson/);
  return (await answer.text()).split('\n');
}

suite('the export of an audit log', () => {
  test('can be checked without the server, also when it is longer than a page', async () => {
    await rename('One');
    const sql = `SELECT workspace_id, count(*)::int AS count FROM audit_log GROUP BY workspace_id`;
    const [log] = await stack.sql<{ workspace_id: string; count: number }>(sql);
    const { appendAudit } = await import('../src/store/audit-log.ts');
    const entry = { at: new Date(), actor: { kind: 'test' }, action: 'test.made', objectId: 'o', details: { é: '"' } };
    await stack.store().asSystem(async (tx) => {
      for (let i = 0; i < 1_100; i += 1) await appendAudit(tx, log?.workspace_id ?? '', entry);
    });
    const lines = await exportLines();
    const checked = await checkExport(lines);
    assert.ok(checked.kind === 'holds' && checked.entries > 1_100, JSON.stringify(checked));
    const forged = lines.with(500, (lines[500] ?? '').replace('test.made', 'test.done'));
    assert.deepEqual(await checkExport(forged), { kind: 'broken', line: 501, why: 'an entry was changed' });
  });
});

suite('the check of an audit log', () => {
  test('is made by itself, and the API tells its result', async () => {
    await stack.restart();
    let check: AuditCheck | undefined;
    await until(async () => {
      check = await stack.get<AuditCheck>('GET', '/audit-log/check');
      return check.state === 'holds' && check.entries > 1_000;
    });
    assert.deepEqual([check?.brokenSequence, check?.why], [null, null]);
  });

  test('finds an entry that was changed in the database', async () => {
    const sql = `UPDATE audit_log SET details = '{"x":1}' WHERE sequence = 700`;
    stack.postgres.run(`SET session_replication_role = replica; ${sql}`);
    await stack.restart();
    await until(async () => (await stack.get<AuditCheck>('GET', '/audit-log/check')).state === 'broken');
    const check = await stack.get<AuditCheck>('GET', '/audit-log/check');
    assert.deepEqual([check.brokenSequence, check.why, check.entries], [700, 'an entry was changed', 699]);
  });
});

suite('the stream of an audit log', () => {
  test('sends every entry from now on, in order and signed, and begins again where it was after a restart', async () => {
    await using receiver = await openReceiver();
    const { secret, position } = await setStream({ url: receiver.url });
    await until(() => receiver.received.length > 0);
    await rename('Two');
    await stack.restart();
    await rename('Three');
    await until(async () => (await readStream()).waiting === 0);
    const sent = sequences(receiver.received);
    assert.deepEqual(
      [...new Set(sent)],
      [...new Set(sent).keys()].map((_, index) => position + 1 + index),
    );
    const entries = [...new Map(receiver.received.flatMap((one) => bodyOf(one).entries.map((each) => [each.sequence, each]))).values()]; // biome-ignore format: short
    const { workspaceId } = bodyOf(receiver.received[0] as Received);
    for (const [index, entry] of entries.slice(1).entries()) {
      assert.equal(linkProblem(workspaceId, entries[index] as ChainEntry, entry), undefined);
    }
    assert.equal(entries[0]?.action, 'audit_stream.set');
    for (const { headers, body } of receiver.received) {
      const signed = {
        id: String(headers['webhook-id']),
        timestampSeconds: Number(headers['webhook-timestamp']),
        signature: String(headers['webhook-signature']),
      };
      assert.ok(verifyStandardWebhook(secret, body, signed));
    }
  });

  test('sends the same entries again until the receiver takes them, and none before', async () => {
    let isDown = true;
    await using receiver = await openReceiver((_, response) => response.writeHead(isDown ? 503 : 200).end());
    await setStream({ url: receiver.url, from: 'start' });
    await until(() => receiver.received.length >= 2);
    const stream = await readStream();
    assert.deepEqual([stream.position, stream.lastError], [0, 'http_503']);
    assert.ok(stream.failures >= 1 && stream.nextAt !== null);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    assert.equal(new Set(ids).size, 1, 'the id stays');
    isDown = false;
    await until(async () => (await readStream()).waiting === 0);
    const taken = receiver.received.slice(
      receiver.received.findLastIndex(({ headers }) => headers['webhook-id'] === ids[0]),
    );
    assert.deepEqual(
      sequences(taken),
      [...sequences(taken).keys()].map((index) => index + 1),
    );
  });

  test('goes to no address that a target could not have, neither as it is set nor by name', async () => {
    const answer = await stack.ask('POST', '/audit-log/stream', { url: 'http://10.0.0.1/' });
    assert.equal(answer.status, 400);
    await setStream({ url: 'http://169.254.169.254.nip.io.invalid/' });
    await rename('Four');
    await until(async () => (await readStream()).failures > 0);
    assert.match((await readStream()).lastError ?? '', /dns/);
  });

  test('ends when it is removed, and its secret stands nowhere in clear', async () => {
    await using receiver = await openReceiver();
    const { secret } = await setStream({ url: receiver.url });
    assert.ok(!stack.postgres.dump().includes(secret.slice('whsec_'.length)));
    await stack.get('DELETE', '/audit-log/stream');
    assert.equal((await stack.ask('GET', '/audit-log/stream')).body, null);
    assert.equal((await stack.ask('DELETE', '/audit-log/stream')).status, 404);
  });
});
