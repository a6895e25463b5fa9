/** The code flow with a real provider, and answers that do not belong to it. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { signInAt, startOidcProvider } from '../../../../testing/oidc-provider.ts';
import { openSsoBed, PASSWORD, sessionIn, type SsoBed, why } from '../../../../testing/sso-bed.ts';

let bed: SsoBed;
before(async () => {
  bed = await openSsoBed();
});
after(async () => bed[Symbol.asyncDispose]());

const ANN = { email: 'ann@shop.example', email_verified: true, name: 'Ann Example' };

suite('signing in by a provider', () => {
  test('makes an account and a session of one workspace, and finds the account again by its subject', async () => {
    const shop = await bed.openShop();
    await bed.provider.setPeople({ ann: ANN });
    const headers = sessionIn(await bed.signIn(shop.workspaceId, 'ann'));
    const me = await bed.ask('GET', '/me', undefined, headers);
    assert.deepEqual(me.body['workspaces'], [
      {
        id: shop.workspaceId,
        name: 'Shop',
        role: 'viewer',
        needsSecondFactor: false,
        needsSingleSignOn: false,
        singleSignOn: 'linked',
      },
    ]);
    const user = me.body['user'] as { id: string; isManaged: boolean };
    assert.deepEqual(user, { id: user.id, email: ANN.email, name: ANN.name, hasSecondFactor: false, isManaged: true });
    const { signOutUrl } = me.body['singleSignOn'] as { signOutUrl: string };
    assert.match(signOutUrl, new RegExp(`^${bed.provider.issuer}/session/end\\?`));
    assert.equal((await bed.ask('GET', '/sources', undefined, headers)).status, 200);

    await bed.provider.setPeople({ ann: { ...ANN, email: 'ann.new@shop.example' } });
    const again = sessionIn(await bed.signIn(shop.workspaceId, 'ann'));
    const now = (await bed.ask('GET', '/me', undefined, again)).body['user'];
    assert.deepEqual(now, { ...user, email: 'ann.new@shop.example' });
    const actions = await bed.actions(shop);
    assert.deepEqual(actions.filter((each) => each === 'member.joined').length, 1);
    assert.deepEqual(actions.filter((each) => each === 'session.started').length, 2);
  });

  test('ends with the page of the provider to sign out', async () => {
    const shop = await bed.openShop();
    await bed.provider.setPeople({ ann: ANN });
    const headers = sessionIn(await bed.signIn(shop.workspaceId, 'ann'));
    const { signOutUrl } = (await bed.ask('GET', '/me', undefined, headers)).body['singleSignOn'] as {
      signOutUrl: string;
    };
    const page = await fetch(signOutUrl);
    assert.equal(page.status, 200, 'the provider knows the client and the address to come back to');
    assert.equal((await bed.ask('DELETE', '/session', undefined, headers)).status, 204);
    assert.equal((await bed.ask('GET', '/me', undefined, headers)).status, 401);
  });

  test('begins by an address whose domain is proven, and says the same of every address there', async () => {
    const shop = await bed.openShop({ domains: ['shop.example'] });
    const start = (email: string) => bed.ask('POST', '/session/single-sign-on', { email });
    assert.equal((await start('ann@shop.example')).body['code'], 'sso_unknown', 'not proven yet');
    const verify = () =>
      bed.control.ask('POST', '/api/v1/single-sign-on/verify-domain', {
        token: shop.owner,
        body: { domain: 'shop.example' },
      });
    assert.equal((await verify()).status, 400);
    bed.setTxt({ '_millrace.shop.example': [`workspace=${shop.workspaceId}`] });
    assert.equal((await verify()).status, 200);
    const [known, unknown] = [await start('ann@SHOP.example'), await start('nobody@shop.example')];
    assert.deepEqual([known.status, unknown.status], [201, 201]);
    assert.match(String(known.body['url']), /login_hint=ann%40/);

    const other = await bed.openShop({ domains: ['shop.example'] });
    const take = () =>
      bed.control.ask('POST', '/api/v1/single-sign-on/verify-domain', {
        token: other.owner,
        body: { domain: 'shop.example' },
      });
    bed.setTxt({ '_millrace.shop.example': [`workspace=${shop.workspaceId}`, `workspace=${other.workspaceId}`] });
    assert.equal((await take()).status, 400, 'the first one is still named');
    bed.setTxt({ '_millrace.shop.example': [`workspace=${other.workspaceId}`] });
    assert.equal((await take()).status, 200);
    assert.match(String((await start('ann@shop.example')).body['url']), new RegExp(other.workspaceId));
  });

  test('works with the new key of a provider that rotates between two sign-ins', async () => {
    const shop = await bed.openShop();
    await bed.provider.setPeople({ ann: ANN });
    sessionIn(await bed.signIn(shop.workspaceId, 'ann'));
    await bed.provider.rotateKeys();
    sessionIn(await bed.signIn(shop.workspaceId, 'ann'));
  });

  test('makes one account for a person who comes twice at the same moment', async () => {
    const shop = await bed.openShop();
    await bed.provider.setPeople({ ann: ANN });
    const ways = await Promise.all([1, 2].map(() => bed.begin({ workspaceId: shop.workspaceId })));
    const at = await Promise.all(ways.map(({ url }) => signInAt(url, 'ann')));
    const answers = await Promise.all(
      ways.map(({ cookie }, nth) => bed.finish(shop.workspaceId, at[nth] as URL, cookie)),
    );
    for (const answer of answers) sessionIn(answer);
    assert.equal((await bed.actions(shop)).filter((each) => each === 'member.joined').length, 1);
  });

  test('lasts no longer than other sessions', async () => {
    const shop = await bed.openShop();
    await bed.provider.setPeople({ ann: ANN });
    const headers = sessionIn(await bed.signIn(shop.workspaceId, 'ann'));
    const { body } = await bed.ask('GET', '/sessions', undefined, headers);
    const [session] = body['items'] as { createdAt: string; expiresAt: string; isSingleSignOn: boolean }[];
    const days = (Date.parse(session?.expiresAt ?? '') - Date.parse(session?.createdAt ?? '')) / 86_400_000;
    assert.deepEqual([Math.round(days), session?.isSingleSignOn], [7, true]);
  });
});

suite('an answer is refused', () => {
  async function begun() {
    const shop = await bed.openShop();
    await bed.provider.setPeople({ ann: ANN });
    return { shop, ...(await bed.begin({ workspaceId: shop.workspaceId })) };
  }

  test('when it comes a second time', async () => {
    const { shop, url, cookie } = await begun();
    const at = await signInAt(url, 'ann');
    assert.equal((await bed.finish(shop.workspaceId, at, cookie)).status, 200);
    assert.equal(why(await bed.finish(shop.workspaceId, at, cookie)), 'sso_ended');
  });

  test('when two come at the same moment, one of them', async () => {
    const { shop, url, cookie } = await begun();
    const at = await signInAt(url, 'ann');
    const both = await Promise.all([1, 2].map(() => bed.finish(shop.workspaceId, at, cookie)));
    assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([200, 401]));
  });

  test('when its code belongs to an earlier sign-in', async () => {
    const { shop, url, cookie } = await begun();
    const old = await signInAt(url, 'ann');
    assert.equal((await bed.finish(shop.workspaceId, old, cookie)).status, 200);
    const next = await bed.begin({ workspaceId: shop.workspaceId });
    const at = await signInAt(next.url, 'ann');
    at.searchParams.set('code', old.searchParams.get('code') ?? '');
    assert.equal(why(await bed.finish(shop.workspaceId, at, next.cookie)), 'sso_failed code_refused');
    assert.ok((await bed.actions(shop)).includes('single_sign_on.refused'));
  });

  test('when it comes from another browser, and the first one still gets in', async () => {
    const { shop, url, cookie } = await begun();
    const other = await bed.begin({ workspaceId: shop.workspaceId });
    const at = await signInAt(url, 'ann');
    assert.equal(why(await bed.finish(shop.workspaceId, at, other.cookie)), 'sso_ended');
    assert.equal(why(await bed.finish(shop.workspaceId, at, 'a=b')), 'sso_ended');
    assert.equal((await bed.finish(shop.workspaceId, at, cookie)).status, 200);
  });

  test('when it took longer than ten minutes', async () => {
    const { shop, url, cookie } = await begun();
    await bed.control.store.asSystem((tx) =>
      tx.query(`UPDATE sso_attempts SET expires_at = now() - interval '1 second' WHERE workspace_id = $1`, [
        shop.workspaceId,
      ]),
    );
    assert.equal(why(await bed.finish(shop.workspaceId, await signInAt(url, 'ann'), cookie)), 'sso_ended');
  });

  test('when the code challenge was another one', async () => {
    const { shop, url, cookie } = await begun();
    const changed = new URL(url);
    changed.searchParams.set('code_challenge', 'A'.repeat(43));
    const at = await signInAt(changed.href, 'ann');
    assert.equal(why(await bed.finish(shop.workspaceId, at, cookie)), 'sso_failed code_refused');
  });

  test('when the nonce of the ID token is another one', async () => {
    const { shop, url, cookie } = await begun();
    const changed = new URL(url);
    changed.searchParams.set('nonce', 'another');
    const at = await signInAt(changed.href, 'ann');
    const answer = await bed.finish(shop.workspaceId, at, cookie);
    assert.equal(why(answer), 'sso_failed wrong_token');
    assert.match(answer.text, /nonce/);
  });

  test('when the person did not sign in there', async () => {
    const { shop, url, cookie } = await begun();
    const at = new URL(`https://millrace.example.com/?error=access_denied&iss=${bed.provider.issuer}`);
    at.searchParams.set('state', new URL(url).searchParams.get('state') ?? '');
    const answer = await bed.finish(shop.workspaceId, at, cookie);
    assert.equal(why(answer), 'sso_failed not_signed_in');
    assert.match(answer.text, /access_denied/);
  });

  test('when it comes from another provider, or does not say from which', async () => {
    await using other = await startOidcProvider();
    const rogue = await bed.openShop({}, other);
    await other.setPeople({ ann: ANN });
    const { shop, url, cookie } = await begun();
    const state = new URL(url).searchParams.get('state') ?? '';
    const theirs = await signInAt((await bed.begin({ workspaceId: rogue.workspaceId })).url, 'ann');
    theirs.searchParams.set('state', state);
    assert.equal(why(await bed.finish(shop.workspaceId, theirs, cookie)), 'sso_failed wrong_issuer');
    const second = await bed.begin({ workspaceId: shop.workspaceId });
    const ours = await signInAt(second.url, 'ann');
    ours.searchParams.delete('iss');
    assert.equal(why(await bed.finish(shop.workspaceId, ours, second.cookie)), 'sso_failed wrong_issuer');
    const third = await bed.begin({ workspaceId: shop.workspaceId });
    const at = await signInAt(third.url, 'ann');
    assert.equal(why(await bed.finish(rogue.workspaceId, at, third.cookie)), 'sso_ended', 'at the address of another');
  });

  test('when the connection was changed meanwhile', async () => {
    const { shop, url, cookie } = await begun();
    const at = await signInAt(url, 'ann');
    const changed = { clientId: 'another', clientSecret: 'secret' };
    assert.equal((await bed.change(shop, changed)).status, 200);
    assert.equal(why(await bed.finish(shop.workspaceId, at, cookie)), 'sso_ended');
  });

  test('when the client secret is wrong', async () => {
    const { shop } = await begun();
    await bed.change(shop, { clientSecret: 'wrong' });
    assert.equal(why(await bed.signIn(shop.workspaceId, 'ann')), 'sso_failed wrong_client');
  });
});

suite('the clock of the provider', () => {
  async function signInWithClock(clockAheadMs: number) {
    await using provider = await startOidcProvider({ clockAheadMs });
    await provider.setPeople({ ann: ANN });
    const shop = await bed.openShop({}, provider);
    return await bed.signIn(shop.workspaceId, 'ann');
  }

  test('may be 45 seconds off', async () => {
    assert.equal((await signInWithClock(45_000)).status, 200);
    assert.equal((await signInWithClock(-45_000)).status, 200);
  });

  test('may not be ten minutes off, and the answer says by how much it is', async () => {
    for (const ahead of [600_000, -600_000]) {
      const answer = await signInWithClock(ahead);
      assert.equal(why(answer), 'sso_failed wrong_clock');
      assert.match(answer.text, ahead > 0 ? /(599|600|601) s ahead/ : /(599|600|601) s behind/);
    }
  });
});

suite('without a provider', () => {
  test('nobody is led anywhere', async () => {
    const answer = await bed.ask('POST', '/session/single-sign-on', { workspaceId: 'ws_none' });
    assert.deepEqual([answer.status, answer.body['code']], [404, 'sso_unknown']);
    assert.equal((await bed.ask('POST', '/session/single-sign-on', {})).status, 400);
  });

  test('that is down, the answer says so, and a break-glass owner still gets in', async () => {
    const shop = await bed.openShop();
    assert.equal((await bed.change(shop, { required: true, breakGlassOwners: [shop.ownerId] })).status, 200);
    assert.equal((await bed.change(shop, { issuer: 'http://127.0.0.1:39999', clientSecret: 'x' })).status, 200);
    const answer = await bed.ask('POST', '/session/single-sign-on', { workspaceId: shop.workspaceId });
    assert.equal(why(answer), 'sso_failed unreachable');
    const signedIn = await bed.ask('POST', '/session', { email: shop.email, password: PASSWORD });
    assert.equal(signedIn.status, 204);
  });
});
