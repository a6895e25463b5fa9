/** Single sign-on with Keycloak as it is delivered: `npm run keycloak`. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ConnectionCheck } from '@millrace/contract/control';
import { CONSOLE, openSsoBed, type Shop, sessionIn, type SsoBed, why } from '../sso-bed.ts';
import { openFormBrowser } from './form-browser.ts';
import { type Keycloak, startKeycloak } from './start-keycloak.ts';

const GROUPS = {
  groupRoles: [
    { group: 'millrace-admins', role: 'admin' },
    { group: 'staff', role: 'developer' },
  ],
  defaultRole: null,
};

const opened = new AsyncDisposableStack();
let bed: SsoBed;
let keycloak: Keycloak;

before(async () => {
  keycloak = opened.use(await startKeycloak());
  bed = opened.use(await openSsoBed());
});
after(() => opened.disposeAsync());

/** The whole way of a person with a new browser. */
async function signIn({ workspaceId }: Shop, name: string, browser = openFormBrowser(keycloak.issuer)) {
  const { url, cookie } = await bed.begin({ workspaceId });
  return bed.finish(workspaceId, await browser.signIn(url, name), cookie);
}

async function roleIn(answer: Awaited<ReturnType<typeof signIn>>): Promise<string | undefined> {
  const me = await bed.ask('GET', '/me', undefined, sessionIn(answer));
  const [workspace] = me.body['workspaces'] as { role: string }[];
  return workspace?.role;
}

async function failingStep({ owner }: Shop): Promise<string> {
  const answer = await bed.control.ask('POST', '/api/v1/single-sign-on/test', { token: owner });
  const { ok, steps } = answer.body as unknown as ConnectionCheck;
  const last = steps.at(-1);
  return ok ? 'none' : `${last?.step}: ${last?.detail}`;
}

test('the test of the connection reads its discovery document, and tells a right secret from a wrong one', async () => {
  const shop = await bed.openShop(GROUPS, keycloak);
  assert.equal(await failingStep(shop), 'none');
  await bed.change(shop, { clientSecret: 'wrong' });
  assert.match(await failingStep(shop), /^client: .*secret is wrong/);
  await bed.change(shop, { clientId: 'unknown', clientSecret: 'wrong' });
  assert.match(await failingStep(shop), /^client: .*its id or its secret/);
  await bed.change(shop, { issuer: keycloak.issuer.replace('fernhill', 'another'), clientSecret: 'wrong' });
  assert.match(await failingStep(shop), /^discovery: /);
});

test('a person signs in with the form, gets the highest role of their groups, and comes back without the form', async () => {
  const shop = await bed.openShop(GROUPS, keycloak);
  const browser = openFormBrowser(keycloak.issuer);
  const first = await signIn(shop, 'ann', browser);
  assert.equal(await roleIn(first), 'admin');
  const me = (await bed.ask('GET', '/me', undefined, sessionIn(first))).body['user'] as Record<string, unknown>;
  assert.deepEqual([me['email'], me['name'], me['isManaged']], ['ann@fernhill.example', 'Ann Reed', true]);
  const { url, cookie } = await bed.begin({ workspaceId: shop.workspaceId });
  const arrived = await browser.open(url);
  assert.ok('left' in arrived, 'Keycloak knows the person');
  assert.equal((await bed.finish(shop.workspaceId, arrived.left, cookie)).status, 200);
  assert.equal((await bed.actions(shop)).filter((action) => action === 'member.joined').length, 1);
});

test('groups let a person in, change the role, and take it away', async () => {
  const shop = await bed.openShop(GROUPS, keycloak);
  const refused = await signIn(shop, 'bob');
  assert.equal(why(refused), 'sso_refused no_role', 'a member of a group below "staff" is none of "staff"');
  await keycloak.admin.setInGroup('bob', 'staff', true);
  assert.equal(await roleIn(await signIn(shop, 'bob')), 'developer');
  await keycloak.admin.setInGroup('bob', 'millrace-admins', true);
  assert.equal(await roleIn(await signIn(shop, 'bob')), 'admin');
  await keycloak.admin.setInGroup('bob', 'millrace-admins', false);
  await keycloak.admin.setInGroup('bob', 'staff', false);
  assert.equal(why(await signIn(shop, 'bob')), 'sso_refused no_role');
  assert.ok((await bed.actions(shop)).includes('member.removed'));
});

test('an address that Keycloak has not verified is refused', async () => {
  const shop = await bed.openShop({ defaultRole: 'viewer' }, keycloak);
  await keycloak.admin.changeUser('bob', { emailVerified: false });
  assert.equal(why(await signIn(shop, 'bob')), 'sso_refused email_unverified');
  await keycloak.admin.changeUser('bob', { emailVerified: true });
  assert.equal(await roleIn(await signIn(shop, 'bob')), 'viewer');
});

test('a new key works for a person who is on the way, and after the old one is gone', async () => {
  const shop = await bed.openShop(GROUPS, keycloak);
  const browser = openFormBrowser(keycloak.issuer);
  sessionIn(await signIn(shop, 'ann', browser));
  const { url, cookie } = await bed.begin({ workspaceId: shop.workspaceId });
  const at = await browser.signIn(url, 'ann');
  await keycloak.admin.addKey('second', 200);
  sessionIn(await bed.finish(shop.workspaceId, at, cookie));
  await keycloak.admin.addKey('third', 300);
  await keycloak.admin.removeKey('second');
  sessionIn(await signIn(shop, 'ann'));
});

test('tokens with signatures other than RS256 are read', async () => {
  const shop = await bed.openShop(GROUPS, keycloak);
  for (const algorithm of ['PS256', 'ES256', 'EdDSA']) {
    await keycloak.admin.changeClient(shop.clientId, { 'id.token.signed.response.alg': algorithm });
    assert.equal((await signIn(shop, 'ann')).status, 200, algorithm);
  }
});

test('signing out leads to Keycloak, which asks once, ends its session and leads back', async () => {
  const shop = await bed.openShop(GROUPS, keycloak);
  const browser = openFormBrowser(keycloak.issuer);
  const headers = sessionIn(await signIn(shop, 'ann', browser));
  const me = await bed.ask('GET', '/me', undefined, headers);
  const { signOutUrl } = me.body['singleSignOn'] as { signOutUrl: string };
  assert.equal((await bed.ask('DELETE', '/session', undefined, headers)).status, 204);
  const asked = await browser.open(signOutUrl);
  const arrived = await browser.send(asked, { confirmLogout: 'Logout' });
  assert.ok('left' in arrived, JSON.stringify(arrived));
  assert.equal(arrived.left.href, `${CONSOLE}/sign-in`);
  const next = await browser.open((await bed.begin({ workspaceId: shop.workspaceId })).url);
  assert.ok('page' in next && next.page.includes('name="password"'), 'Keycloak asks for the password again');
});

test('the code works once, with its own verifier, and comes from this realm', async () => {
  const { workspaceId } = await bed.openShop(GROUPS, keycloak);
  const browser = openFormBrowser(keycloak.issuer);
  const changed = await bed.begin({ workspaceId });
  const url = new URL(changed.url);
  url.searchParams.set('code_challenge', 'A'.repeat(43));
  const wrong = await bed.finish(workspaceId, await browser.signIn(url.href, 'ann'), changed.cookie);
  assert.equal(why(wrong), 'sso_failed code_refused');

  const used = await bed.begin({ workspaceId });
  const at = await browser.signIn(used.url, 'ann');
  assert.equal((await bed.finish(workspaceId, at, used.cookie)).status, 200);
  const second = await bed.begin({ workspaceId });
  const again = await browser.signIn(second.url, 'ann');
  again.searchParams.set('code', at.searchParams.get('code') ?? '');
  assert.equal(why(await bed.finish(workspaceId, again, second.cookie)), 'sso_failed code_refused');

  const third = await bed.begin({ workspaceId });
  const theirs = await browser.signIn(third.url, 'ann');
  theirs.searchParams.set('iss', keycloak.issuer.replace('fernhill', 'master'));
  assert.equal(why(await bed.finish(workspaceId, theirs, third.cookie)), 'sso_failed wrong_issuer');
});

test('a clock that is ten minutes off is named', async () => {
  const shop = await bed.openShop(GROUPS, keycloak);
  try {
    for (const [ms, words] of [
      [45_000, undefined],
      [-45_000, undefined],
      [600_000, /60\d s behind|59\d s behind/],
      [-600_000, /60\d s ahead|59\d s ahead/],
    ] as const) {
      bed.setClock(() => new Date(Date.now() + ms));
      const answer = await signIn(shop, 'ann');
      if (words === undefined) assert.equal(answer.status, 200, answer.text);
      else {
        assert.equal(why(answer), 'sso_failed wrong_clock');
        assert.match(answer.text, words);
      }
    }
  } finally {
    bed.setClock(() => new Date());
  }
});

// The last one: the scope stays in the realm.
test('a scope "groups" that Keycloak has but does not give to the client is named', async () => {
  const { workspaceId } = await bed.openShop(GROUPS, keycloak);
  await keycloak.admin.ask('POST', '/client-scopes', { name: 'groups', protocol: 'openid-connect' });
  // The next sign-in reads the discovery document anew.
  await bed.control.ask('POST', '/api/v1/single-sign-on/test', { token: (await bed.openShop(GROUPS, keycloak)).owner });
  const { url, cookie } = await bed.begin({ workspaceId });
  const arrived = await openFormBrowser(keycloak.issuer).open(url);
  assert.ok('left' in arrived, 'Keycloak refuses before it asks for a password');
  const answer = await bed.finish(workspaceId, arrived.left, cookie);
  assert.equal(why(answer), 'sso_failed not_signed_in');
  assert.match(answer.text, /does not give to this client/);
});
