/** With MILLRACE_HOST_PROOF=needed a workspace sends only to hosts that it has proven to be its own. With every role. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { HostCheck, TargetHosts } from '@millrace/contract/control';
import { Value } from 'typebox/value';
import { addToken, addWorkspace } from '../testing/control.ts';
import { type NameServer, openNameServer } from '../testing/name-server.ts';
import { openReceiver } from '../testing/receiver.ts';
import { openStack, type Stack } from '../testing/stack.ts';

type Problem = { code: string; errors: { path: string; message: string }[] };
type Audit = { items: { action: string; details: object }[] };
type Receiver = Awaited<ReturnType<typeof openReceiver>>;
type Tenant = Awaited<ReturnType<typeof addTenant>>;

const HOOK = 'https://hooks.shop.example/in';
/** The records of hooks.shop.example. */
let records: string[] = [];
/** The file on the receiver. */
let file = '';
let names: NameServer;
let receiver: Receiver;
let stack: Stack;

before(async () => {
  names = await openNameServer({
    '_millrace-challenge.hooks.shop.example': () => records.map((record) => `txt:${record}`),
  });
  receiver = await openReceiver(({ path }, response) => {
    response.end(path === '/.well-known/millrace-proof' ? file : '');
  });
  const settings = { MILLRACE_HOST_PROOF: 'needed', MILLRACE_HOSTS_WITHOUT_PROOF: 'hooks.known.example' };
  stack = await openStack(settings, {}, { nameServers: [names.address] });
});
after(async () => {
  await stack[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await names[Symbol.asyncDispose]();
});

async function addTenant() {
  const workspaceId = await addWorkspace(stack.store());
  const as = stack.as(await addToken(stack.store(), workspaceId, { role: 'owner' }));
  const { id: sourceId } = await as.get<{ id: string }>('POST', '/sources', { name: 'Shop' });
  const add = (...urls: string[]) => {
    const settings = { targets: urls.map((url) => ({ url })) };
    return as.ask<Problem & { id: string }>('POST', '/destinations', { sourceId, catalog: 'Webhooks', settings });
  };
  const check = async (url: string): Promise<HostCheck> => {
    const checked = await as.get<HostCheck>('POST', '/target-hosts/check', { url });
    assert.deepEqual([...Value.Errors(HostCheck, checked)], []);
    return checked;
  };
  const list = async (): Promise<TargetHosts> => {
    const listed = await as.get<TargetHosts>('GET', '/target-hosts');
    assert.deepEqual([...Value.Errors(TargetHosts, listed)], []);
    return listed;
  };
  return { ...as, workspaceId, sourceId, add, check, list };
}

const textFor = async ({ check }: Tenant, url: string) => (await check(url)).host.proof.text;

suite('a host that is not proven', () => {
  test('is refused wherever a URL comes in, and the refusal says how to prove it', async () => {
    const tenant = await addTenant();
    const made = await tenant.add(HOOK);
    assert.deepEqual([made.status, made.body.code, made.body.errors.length], [409, 'host_not_proven', 1]);
    const [error] = made.body.errors;
    assert.equal(error?.path, '/settings/targets/0/url');
    const text = await textFor(tenant, HOOK);
    for (const part of ['hooks.shop.example:443', '_millrace-challenge.hooks.shop.example', '/.well-known/', text])
      assert.ok(error.message.includes(part), `${part} in ${error.message}`);
    const known = await tenant.add('https://hooks.known.example/');
    assert.equal(known.status, 201, 'the operator asks for no proof of this name');
    const settings = { targets: [{ url: 'https://hooks.known.example/' }, { url: HOOK }] };
    const changed = await tenant.ask<Problem>('PATCH', `/destinations/${known.body.id}`, { settings });
    assert.equal(changed.body.errors[0]?.path, '/settings/targets/1/url');
    const stream = await tenant.ask<Problem>('POST', '/audit-log/stream', { url: HOOK });
    assert.deepEqual([stream.status, stream.body.code, stream.body.errors[0]?.path], [409, 'host_not_proven', '/url']);
    const { isNeeded, items } = await tenant.list();
    assert.ok(isNeeded);
    assert.deepEqual(
      items.map(({ host, state, origin }) => [host, state, origin]),
      [['hooks.known.example:443', 'exempt', 'https://hooks.known.example']],
    );
  });

  test('stays where it was before the operator asked for proofs, and goes nowhere else', async () => {
    const tenant = await addTenant();
    const { body } = await tenant.add('https://hooks.known.example/old');
    const old = `jsonb_set(settings, '{targets,0,url}', '"https://hooks.old.example/"')`;
    await stack.sql(`UPDATE destinations SET settings = ${old} WHERE id = $1`, [body.id]);
    const change = (url: string) =>
      tenant.ask<Problem>('PATCH', `/destinations/${body.id}`, { enabled: true, settings: { targets: [{ url }] } });
    assert.equal((await change('https://hooks.old.example/new-path')).status, 200);
    assert.equal((await change('https://hooks.old.example:8443/')).body.code, 'host_not_proven');
    assert.equal((await tenant.add('https://hooks.old.example/')).body.code, 'host_not_proven');
    assert.equal((await tenant.list()).items[0]?.state, 'unproven');
  });
});

suite('a proof', () => {
  test('by a DNS record is of the name with every port, and of one workspace alone', async () => {
    const [one, other] = [await addTenant(), await addTenant()];
    const text = await textFor(one, HOOK);
    assert.notEqual(await textFor(other, HOOK), text);
    records = ['something else', text];
    assert.equal((await other.check(HOOK)).ok, false);
    const checked = await one.check(HOOK);
    assert.deepEqual([checked.ok, checked.steps.map(({ way }) => way), checked.host.state], [true, ['dns'], 'proven']);
    assert.equal((await one.add(HOOK, 'http://hooks.shop.example:8080/')).status, 201);
    assert.equal((await one.add('https://in.hooks.shop.example/')).body.code, 'host_not_proven');
    assert.equal((await other.add(HOOK)).body.code, 'host_not_proven');
    assert.deepEqual((await other.list()).items, []);
  });

  test('by a file is of the name and this port', async () => {
    const [one, other] = [await addTenant(), await addTenant()];
    const { origin, host } = new URL(receiver.url);
    const first = await one.check(receiver.url);
    assert.deepEqual(
      [first.ok, first.steps.map(({ way }) => way), first.host.proof.recordName],
      [false, ['http'], null],
      'an address has no records',
    );
    file = `${first.host.proof.text}\n`;
    assert.equal((await other.check(origin)).ok, false);
    assert.equal((await one.check(origin)).host.way, 'http');
    assert.equal((await one.add(receiver.url)).status, 201);
    assert.equal((await one.add('http://127.0.0.1:9999/')).body.code, 'host_not_proven');
    assert.equal((await one.ask('POST', '/audit-log/stream', { url: receiver.url })).status, 201);
    const { items } = await one.get<Audit>('GET', '/audit-log');
    const proven = items.find(({ action }) => action === 'host.proven');
    assert.deepEqual(proven?.details, { host, way: 'http' });
  });

  test('can be forgotten: what sends there goes on, and nothing new does', async () => {
    const tenant = await addTenant();
    file = await textFor(tenant, receiver.url);
    assert.equal((await tenant.check(receiver.url)).ok, true);
    const { body } = await tenant.add(receiver.url);
    const { host } = new URL(receiver.url);
    const forget = () => tenant.ask('DELETE', `/target-hosts/${encodeURIComponent(host)}/proof`);
    assert.equal((await forget()).status, 204);
    assert.equal((await forget()).status, 404);
    assert.equal((await tenant.add(receiver.url)).body.code, 'host_not_proven');
    assert.equal((await tenant.ask('PATCH', `/destinations/${body.id}`, { name: 'Renamed' })).status, 200);
  });

  test('is looked for at places that targets may have, and twenty times a minute at most', async () => {
    const tenant = await addTenant();
    const asked = await tenant.ask<Problem>('POST', '/target-hosts/check', { url: 'http://10.0.0.1/' });
    assert.equal(asked.body.code, 'invalid_request');
    const statuses = new Set<number>();
    for (let nth = 0; nth < 21; nth += 1)
      statuses.add((await tenant.ask('POST', '/target-hosts/check', { url: receiver.url })).status);
    assert.deepEqual([...statuses], [200, 429]);
  });
});
