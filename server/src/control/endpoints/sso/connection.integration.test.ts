/** The connection of a workspace: its answers, its refusals, and the steps of its test. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import type { ConnectionCheck } from '@millrace/contract/control';
import { addToken, addWorkspace } from '../../../../testing/control.ts';
import { openKeyRing } from '../../../secrets/seal.ts';
import { findConnection } from '../../../store/sso-connections.ts';
import { rotateRing } from '../../keys/rotate-ring.ts';
import { openSsoBed, type Shop, sessionIn, type SsoBed, why } from '../../../../testing/sso-bed.ts';
import { openConnection } from './open-connection.ts';

let bed: SsoBed;
before(async () => {
  bed = await openSsoBed();
});
after(async () => bed[Symbol.asyncDispose]());

const asOwner = (shop: Shop, method: string, path = '', body?: object) =>
  bed.control.ask(method, `/api/v1/single-sign-on${path}`, { token: shop.owner, ...(body && { body }) });

/** The failing step of a test of the connection, with its words. */
async function failingStep(shop: Shop): Promise<string> {
  const answer = await asOwner(shop, 'POST', '/test');
  const { ok, steps } = answer.body as unknown as ConnectionCheck;
  const last = steps.at(-1);
  return ok ? 'none' : `${last?.step}: ${last?.detail}`;
}

/** Answers every request; `reply` may leave it open. */
async function openServer(reply: RequestListener) {
  const server = createServer(reply).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    issuer: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

suite('a connection', () => {
  test('never shows its secret, in no answer and in no audit entry', async () => {
    const shop = await bed.openShop();
    const shown = await asOwner(shop, 'GET');
    assert.equal(shown.status, 200);
    assert.ok(!shown.text.includes(shop.clientSecret));
    await bed.change(shop, { clientSecret: 'a very new secret' });
    const log = await bed.control.ask('GET', '/api/v1/audit-log?limit=100', { token: shop.owner });
    assert.ok(!log.text.includes(shop.clientSecret) && !log.text.includes('a very new secret'));
    const actions = await bed.actions(shop);
    assert.ok(actions.includes('single_sign_on.created') && actions.includes('single_sign_on.changed'));
  });

  test('is changed and deleted by no narrowed token', async () => {
    const shop = await bed.openShop();
    const scopes = ['single-sign-on:read', 'single-sign-on:write'];
    const token = await addToken(bed.control.store, shop.workspaceId, { role: 'owner', scopes });
    const narrowed = { ...shop, owner: token };
    assert.equal((await bed.change(narrowed, { defaultRole: 'owner' })).status, 403);
    assert.equal((await asOwner(narrowed, 'DELETE')).status, 403);
    assert.equal((await asOwner(shop, 'GET')).body['connection'] === null, false);
  });

  test('has its secret sealed anew when the key ring rotates', async () => {
    const shop = await bed.openShop();
    const { needs, store } = bed.control;
    const [first, second] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
    const both = openKeyRing(
      new Map([
        [1, first],
        [2, second],
      ]),
    );
    assert.equal(await rotateRing({ ...needs, keyRing: both }), true);
    const row = await store.asSystem((tx) => findConnection(tx, shop.workspaceId));
    assert.ok(row !== undefined);
    assert.equal(openConnection(row, openKeyRing(new Map([[2, second]]))).clientSecret, shop.clientSecret);
    // Back, for the other tests.
    const back = openKeyRing(
      new Map([
        [2, second],
        [1, first],
      ]),
    );
    assert.equal(await rotateRing({ ...needs, keyRing: back }), true);
  });

  test('is one of a workspace, and is made and changed by owners with all their rights', async () => {
    const shop = await bed.openShop();
    const body = { issuer: bed.provider.issuer, clientId: 'c', clientSecret: 's' };
    assert.equal((await asOwner(shop, 'POST', '', body)).status, 409);
    const workspaceId = await addWorkspace(bed.control.store);
    const admin = await addToken(bed.control.store, workspaceId, { role: 'admin' });
    assert.equal((await bed.control.ask('POST', '/api/v1/single-sign-on', { token: admin, body })).status, 403);
    const scopes = ['single-sign-on:read', 'single-sign-on:write'];
    const narrow = await addToken(bed.control.store, workspaceId, { role: 'owner', scopes });
    assert.equal((await bed.control.ask('POST', '/api/v1/single-sign-on', { token: narrow, body })).status, 403);
  });

  test('sends its secret to no other issuer or client', async () => {
    const shop = await bed.openShop();
    for (const change of [{ issuer: 'https://evil.example' }, { clientId: 'another' }]) {
      const answer = await bed.change(shop, change);
      assert.equal(answer.status, 400);
      assert.match(answer.text, /clientSecret/);
    }
  });

  test('leads to public addresses over TLS, or to this machine where the operator allows it', async () => {
    const shop = await bed.openShop();
    const issuers = [
      'http://idp.example',
      'https://10.0.0.1',
      'https://169.254.169.254',
      'https://localhost',
      'ftp://x.example',
      'https://a:b@idp.example',
      'https://idp.example/?a=b',
      'https://idp.example:25',
    ];
    for (const issuer of issuers) {
      assert.equal((await bed.change(shop, { issuer, clientSecret: 's' })).status, 400, issuer);
    }
  });

  test('ends the sessions that it began when it leads elsewhere, and when it is deleted', async () => {
    const shop = await bed.openShop();
    await bed.provider.setPeople({ ann: { email: 'ann@shop.example', email_verified: true } });
    const first = sessionIn(await bed.signIn(shop.workspaceId, 'ann'));
    const stands = async (headers: Record<string, string>) => (await bed.ask('GET', '/me', undefined, headers)).status;
    await bed.change(shop, { defaultRole: 'developer' });
    assert.equal(await stands(first), 200);
    const { issuer } = bed.provider;
    await bed.change(shop, { clientId: 'another', clientSecret: 'x' });
    assert.equal(await stands(first), 401);
    const clientId = (await asOwner(shop, 'GET')).body;
    assert.match(JSON.stringify(clientId), new RegExp(issuer));
    assert.equal((await asOwner(shop, 'DELETE')).status, 204);
    assert.equal((await asOwner(shop, 'DELETE')).status, 404);
    assert.equal((await asOwner(shop, 'GET')).body['connection'], null);
  });
});

suite('the test of a connection', () => {
  test('goes through all steps, and finds a wrong secret', async () => {
    const shop = await bed.openShop();
    assert.equal(await failingStep(shop), 'none');
    await bed.change(shop, { clientSecret: 'wrong' });
    assert.match(await failingStep(shop), /^client: .*secret is wrong/);
    assert.ok((await bed.actions(shop)).includes('single_sign_on.tested'));
  });

  test('says what is wrong with the provider', async () => {
    const shop = await bed.openShop();
    const step = async (reply: RequestListener) => {
      await using server = await openServer(reply);
      await bed.change(shop, { issuer: server.issuer, clientSecret: 's' });
      return await failingStep(shop);
    };
    const json =
      (body: object): RequestListener =>
      (_request, response) =>
        void response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    assert.match(await step(json({ issuer: 'http://127.0.0.1:1' })), /^discovery: .*another/);
    assert.match(await step((_request, response) => void response.end('<html>')), /^discovery: .*OpenID Connect/);
    assert.match(
      await step((_request, response) => void response.writeHead(302, { location: 'http://127.0.0.1/' }).end()),
      /^discovery: /,
    );
    assert.match(await step(() => undefined), /^discovery: .*did not answer within 2 s/);
    const huge: RequestListener = (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.on('error', () => undefined);
      response.end(`{"issuer": "${'x'.repeat(300_000)}"}`);
    };
    assert.match(await step(huge), /^discovery: .*more than 256 KiB/);
    const drip: RequestListener = (_request, response) => {
      const dripping = setInterval(() => response.write(' '), 100);
      response.once('close', () => clearInterval(dripping));
    };
    assert.match(await step(drip), /^discovery: .*did not answer within 2 s/);
    let issuer = '';
    let about: object = { authorization_endpoint: 'javascript:alert(1)' };
    const script: RequestListener = (_request, response) => {
      const body = { issuer, token_endpoint: issuer, jwks_uri: issuer, ...about };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    };
    await using server = await openServer(script);
    ({ issuer } = server);
    await bed.change(shop, { issuer, clientSecret: 's' });
    assert.match(await failingStep(shop), /^discovery: .*https/);
    const started = await bed.ask('POST', '/session/single-sign-on', { workspaceId: shop.workspaceId });
    assert.equal(why(started), 'sso_failed wrong_document');
    about = { authorization_endpoint: issuer, scopes_supported: 5 };
    const listless = await bed.ask('POST', '/session/single-sign-on', { workspaceId: shop.workspaceId });
    assert.equal(why(listless), 'sso_failed wrong_document');
  });

  test('is made twenty times a minute at most', async () => {
    const shop = await bed.openShop();
    await bed.change(shop, { issuer: 'http://127.0.0.1:39999', clientSecret: 's' });
    const statuses = new Set<number>();
    for (let nth = 0; nth < 21; nth += 1) statuses.add((await asOwner(shop, 'POST', '/test')).status);
    assert.deepEqual([...statuses], [200, 429]);
  });
});
