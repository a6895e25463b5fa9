/** Roles by groups, workspaces that require single sign-on, and tries to take over accounts. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { insertMember } from '../../../store/members.ts';
import { addToken, addWorkspace } from '../../../../testing/control.ts';
import { signInAt } from '../../../../testing/oidc-provider.ts';
import { openSsoBed, PASSWORD, sessionIn, type SsoBed, why } from '../../../../testing/sso-bed.ts';

let bed: SsoBed;
before(async () => {
  bed = await openSsoBed();
});
after(async () => bed[Symbol.asyncDispose]());

const ANN = { email: 'ann@shop.example', email_verified: true, name: 'Ann' };
const GROUPS = {
  groupRoles: [
    { group: 'staff', role: 'viewer' },
    { group: 'admins', role: 'admin' },
    { group: 'owners', role: 'owner' },
  ],
  defaultRole: null,
};

async function roleOf(headers: Record<string, string>): Promise<unknown> {
  const { body } = await bed.ask('GET', '/me', undefined, headers);
  return (body['workspaces'] as { role: string }[] | undefined)?.[0]?.role;
}

/** Links the account of a member, whose password session is given, with a subject at the provider. */
async function link(headers: Record<string, string>, workspaceId: string, subject: string) {
  const begun = await bed.ask('POST', '/me/single-sign-on', { workspaceId, password: PASSWORD }, headers);
  assert.equal(begun.status, 201, begun.text);
  const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return bed.finish(workspaceId, await signInAt(String(begun.body['url']), subject), cookie);
}

function addPasskey(email: string): void {
  bed.control.postgres.run(`INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name)
    SELECT 'pky_' || id, id, id, '', 0, '{}', 'Key' FROM users WHERE email = '${email}'`);
}

// First: it needs the first workspace of the installation.
suite('the first workspace, whose owners are the operators', () => {
  test('keeps the operators that it has when it is connected: an owner by the provider makes none', async () => {
    const { control } = bed;
    const workspaceId = await addWorkspace(control.store, 'First');
    const token = await addToken(control.store, workspaceId, { role: 'owner' });
    const connect = (issuer: string) => {
      const body = { issuer, clientId: 'c', clientSecret: 's' };
      return control.ask('POST', '/api/v1/single-sign-on', { token, body });
    };
    const alone = await connect(bed.provider.issuer);
    assert.deepEqual([alone.status, alone.body['code']], [409, 'wrong_state'], 'tokens alone');
    const { email } = await bed.addPerson(workspaceId, 'owner');
    assert.equal((await connect(bed.provider.issuer)).status, 201);
    const later = await addToken(control.store, workspaceId, { role: 'owner' });
    const isOperator = async (secret: string) =>
      (await control.ask('GET', '/api/v1/operators', { token: secret })).status === 200;
    assert.deepEqual([await isOperator(token), await isOperator(later)], [true, false]);
    const person = await bed.signInWithPassword(email);
    assert.equal((await bed.ask('GET', '/operators', undefined, person)).status, 200);
  });
});

suite('groups at the provider', () => {
  test('decide about the role, anew at each sign-in, and without one the membership ends', async () => {
    const shop = await bed.openShop(GROUPS);
    const signIn = async (groups: unknown) => {
      await bed.provider.setPeople({ ann: { ...ANN, groups } });
      return bed.signIn(shop.workspaceId, 'ann');
    };
    assert.equal(why(await signIn(['others'])), 'sso_refused no_role');
    assert.equal(await roleOf(sessionIn(await signIn(['staff', 'others']))), 'viewer');
    const admin = sessionIn(await signIn(['staff', 'admins']));
    assert.equal(await roleOf(admin), 'admin');
    const made = await bed.ask('POST', '/tokens', { name: 'T', role: 'admin' }, admin);
    const token = String(made.body['token']);
    assert.equal(await roleOf(sessionIn(await signIn('staff'))), 'viewer', 'a text stands for one group');
    assert.equal(why(await signIn([])), 'sso_refused no_role');
    assert.equal((await bed.ask('GET', '/me', undefined, admin)).status, 401, 'the sessions end with the membership');
    assert.equal((await bed.control.ask('GET', '/api/v1/sources', { token })).status, 401, 'and the tokens');
    const actions = await bed.actions(shop);
    for (const action of ['member.changed', 'member.removed']) assert.ok(actions.includes(action), action);
    assert.equal(await roleOf(sessionIn(await signIn(['staff']))), 'viewer', 'a new account');
  });

  test('open a workspace that demands a second factor: the provider asks for its own', async () => {
    const shop = await bed.openShop();
    bed.control.postgres.run(`UPDATE workspaces SET needs_second_factor = true WHERE id = '${shop.workspaceId}'`);
    const { email } = await bed.addPerson(shop.workspaceId);
    const own = await bed.signInWithPassword(email);
    assert.equal((await bed.ask('GET', '/sources', undefined, own)).body['code'], 'second_factor_needed');
    await bed.provider.setPeople({ ann: ANN });
    const bound = sessionIn(await bed.signIn(shop.workspaceId, 'ann'));
    assert.equal((await bed.ask('GET', '/sources', undefined, bound)).status, 200);
  });

  test('take the role neither from a break-glass owner nor from the last owner', async () => {
    const shop = await bed.openShop(GROUPS);
    await bed.provider.setPeople({ own: { ...ANN, groups: ['staff'] } });
    const headers = await bed.signInWithPassword(shop.email);
    assert.equal((await link(headers, shop.workspaceId, 'own')).status, 200);
    assert.equal(await roleOf(sessionIn(await bed.signIn(shop.workspaceId, 'own'))), 'owner', 'the last one');
    await bed.addPerson(shop.workspaceId, 'owner');
    await bed.change(shop, { breakGlassOwners: [shop.ownerId] });
    assert.equal(await roleOf(sessionIn(await bed.signIn(shop.workspaceId, 'own'))), 'owner', 'a break-glass owner');
    await bed.change(shop, { breakGlassOwners: [] });
    assert.equal(await roleOf(sessionIn(await bed.signIn(shop.workspaceId, 'own'))), 'viewer');
  });
});

suite('a workspace that requires single sign-on', () => {
  test('is closed to passwords at once, but for break-glass owners, who are in the audit log', async () => {
    const shop = await bed.openShop();
    const person = await bed.addPerson(shop.workspaceId);
    const before = await bed.signInWithPassword(person.email);
    assert.equal((await bed.ask('GET', '/sources', undefined, before)).status, 200);
    assert.equal((await bed.change(shop, { required: true })).status, 400, 'without a break-glass owner');
    assert.equal((await bed.change(shop, { breakGlassOwners: [person.userId] })).status, 400, 'who is no owner');
    assert.equal((await bed.change(shop, { required: true, breakGlassOwners: [shop.ownerId] })).status, 200);
    assert.equal((await bed.ask('GET', '/sources', undefined, before)).body['code'], 'sso_required');
    const me = await bed.ask('GET', '/me', undefined, before);
    assert.match(me.text, /"needsSingleSignOn":true/);

    const glass = await bed.signInWithPassword(shop.email);
    assert.equal((await bed.ask('GET', '/sources', undefined, glass)).status, 200);
    assert.ok((await bed.actions(shop)).includes('break_glass.used'));
    assert.equal((await bed.control.ask('GET', '/api/v1/sources', { token: shop.owner })).status, 200, 'tokens stay');

    await bed.provider.setPeople({ pat: { ...ANN, email: person.email } });
    assert.equal(why(await bed.signIn(shop.workspaceId, 'pat')), 'sso_refused address_taken');
    assert.equal((await link(before, shop.workspaceId, 'pat')).body['kind'], 'linked');
    const bound = sessionIn(await bed.signIn(shop.workspaceId, 'pat'));
    assert.equal((await bed.ask('GET', '/sources', undefined, bound)).status, 200);
  });

  test('keeps a break-glass owner', async () => {
    const shop = await bed.openShop();
    const second = await bed.addPerson(shop.workspaceId, 'owner');
    const remove = (userId: string) => bed.control.ask('DELETE', `/api/v1/members/${userId}`, { token: shop.owner });
    await bed.change(shop, { required: true, breakGlassOwners: [shop.ownerId] });
    assert.equal((await remove(shop.ownerId)).body['code'], 'last_owner');
    const lower = { token: shop.owner, body: { role: 'viewer' } };
    const patched = await bed.control.ask('PATCH', `/api/v1/members/${shop.ownerId}`, lower);
    assert.equal(patched.body['code'], 'last_owner');
    const headers = await bed.signInWithPassword(shop.email);
    const to = { userId: second.userId };
    assert.equal((await bed.ask('POST', '/workspace/transfer', to, headers)).body['code'], 'last_owner');
    assert.equal((await bed.change(shop, { breakGlassOwners: [] })).status, 400);
    assert.equal((await remove(second.userId)).status, 204);
    assert.equal((await bed.control.ask('DELETE', '/api/v1/single-sign-on', { token: shop.owner })).status, 204);
  });
});

suite('a provider cannot', () => {
  test('open an account of another workspace by its address, nor take that address', async () => {
    const victim = await bed.openShop();
    const rogue = await bed.openShop();
    await bed.provider.setPeople({ eve: { ...ANN, email: victim.email } });
    const headers = sessionIn(await bed.signIn(rogue.workspaceId, 'eve'));
    const { body } = await bed.ask('GET', '/me', undefined, headers);
    assert.notEqual((body['user'] as { id: string }).id, victim.ownerId);
    assert.equal((body['workspaces'] as unknown[]).length, 1);
    const there = { ...headers, 'Millrace-Workspace': victim.workspaceId };
    assert.equal((await bed.ask('GET', '/sources', undefined, there)).status, 404);
    // The victim still signs in, resets the password and is found by the address.
    await bed.signInWithPassword(victim.email);

    await bed.provider.setPeople({ mallory: { ...ANN, email: 'new@victim.example' } });
    sessionIn(await bed.signIn(rogue.workspaceId, 'mallory'));
    const invite = { token: victim.owner, body: { email: 'new@victim.example', role: 'viewer' } };
    await bed.control.ask('POST', '/api/v1/invitations', invite);
    const [row] = await bed.control.store.asSystem((tx) =>
      tx.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM users WHERE lower(email) = 'new@victim.example' AND belongs_to IS NULL`,
      ),
    );
    assert.equal(row?.count, 0, 'the address is free for a person');
  });

  test('reach another workspace of a linked person, nor change the account', async () => {
    const shop = await bed.openShop();
    const person = await bed.addPerson(shop.workspaceId, 'admin');
    const other = await addWorkspace(bed.control.store, 'Other');
    await bed.control.store.asSystem((tx) =>
      insertMember(tx, { workspaceId: other, userId: person.userId, role: 'owner' }),
    );
    const own = await bed.signInWithPassword(person.email);
    await bed.provider.setPeople({ pat: ANN });
    assert.equal((await link(own, shop.workspaceId, 'pat')).status, 200);
    const bound = sessionIn(await bed.signIn(shop.workspaceId, 'pat'));
    const { body } = await bed.ask('GET', '/me', undefined, bound);
    assert.deepEqual(
      (body['workspaces'] as { id: string }[]).map(({ id }) => id),
      [shop.workspaceId],
    );
    const there = { ...bound, 'Millrace-Workspace': other };
    assert.equal((await bed.ask('GET', '/sources', undefined, there)).status, 404);
    const password = { currentPassword: PASSWORD, newPassword: 'another long password' };
    assert.equal((await bed.ask('POST', '/me/password', password, bound)).body['code'], 'sso_session');
    assert.equal(
      (await bed.ask('POST', '/me/email', { email: 'x@example.com', password: PASSWORD }, bound)).body['code'],
      'sso_session',
    );
    assert.equal((await bed.ask('POST', '/workspaces', { name: 'W' }, bound)).body['code'], 'sso_session');
    assert.equal((await bed.ask('DELETE', `/me/workspaces/${other}`, undefined, bound)).body['code'], 'sso_session');
    assert.equal(
      (await bed.ask('POST', '/me/single-sign-on', { workspaceId: other, password: PASSWORD }, bound)).body['code'],
      'sso_session',
    );
    bed.control.postgres.run(`UPDATE members SET role = 'owner' WHERE user_id = '${person.userId}'`);
    assert.equal(
      (await bed.ask('POST', '/workspace/deletion', { name: '', password: PASSWORD }, bound)).body['code'],
      'sso_session',
      'it would be a way to guess the password',
    );
    const sessions = await bed.ask('GET', '/sessions', undefined, bound);
    assert.equal((sessions.body['items'] as unknown[]).length, 1, 'only its own');
    await bed.ask('POST', '/sessions/revoke-others', undefined, bound);
    assert.equal((await bed.ask('GET', '/me', undefined, own)).status, 200, 'the session with the password stays');

    const unlink = () => bed.ask('DELETE', `/me/single-sign-on/${shop.workspaceId}`, undefined, own);
    assert.equal((await unlink()).status, 204);
    assert.equal((await bed.ask('GET', '/me', undefined, bound)).status, 401);
    assert.equal((await unlink()).status, 404);
  });

  test('sign in with an address that it has not checked, or that is not of the domains', async () => {
    const shop = await bed.openShop({ domains: ['shop.example'] });
    await bed.provider.setPeople({
      none: { email: 'a@shop.example' },
      no: { email: 'a@shop.example', email_verified: false },
      text: { email: 'a@shop.example', email_verified: 'true' },
      foreign: { email: 'a@evil.example', email_verified: true },
      sub: { email: 'a@x.shop.example', email_verified: true },
      nothing: { email_verified: true },
    });
    for (const subject of ['none', 'no', 'text']) {
      assert.equal(why(await bed.signIn(shop.workspaceId, subject)), 'sso_refused email_unverified', subject);
    }
    for (const subject of ['foreign', 'sub']) {
      assert.equal(why(await bed.signIn(shop.workspaceId, subject)), 'sso_refused email_foreign', subject);
    }
    assert.equal(why(await bed.signIn(shop.workspaceId, 'nothing')), 'sso_refused no_email');
  });

  test('give the account of one subject to another with the same address', async () => {
    const shop = await bed.openShop();
    await bed.provider.setPeople({ ann: ANN, another: ANN });
    sessionIn(await bed.signIn(shop.workspaceId, 'ann'));
    assert.equal(why(await bed.signIn(shop.workspaceId, 'another')), 'sso_refused address_taken');
  });

  test('be linked with two accounts, or without the password', async () => {
    const shop = await bed.openShop();
    const [one, two] = [await bed.addPerson(shop.workspaceId), await bed.addPerson(shop.workspaceId)];
    await bed.provider.setPeople({ pat: ANN });
    const first = await bed.signInWithPassword(one.email);
    const wrong = { workspaceId: shop.workspaceId, password: 'wrong' };
    assert.equal((await bed.ask('POST', '/me/single-sign-on', wrong, first)).body['code'], 'wrong_password');
    const elsewhere = { workspaceId: (await bed.openShop()).workspaceId, password: PASSWORD };
    assert.equal((await bed.ask('POST', '/me/single-sign-on', elsewhere, first)).status, 404);
    assert.equal((await link(first, shop.workspaceId, 'pat')).status, 200);
    const second = await bed.signInWithPassword(two.email);
    assert.equal(why(await link(second, shop.workspaceId, 'pat')), 'sso_refused identity_taken');
    assert.equal((await bed.actions(shop)).filter((each) => each === 'single_sign_on.linked').length, 1);
  });

  test('be linked with an account that has a second factor, unless the person has confirmed it in this session', async () => {
    const shop = await bed.openShop();
    const { email } = await bed.addPerson(shop.workspaceId);
    const own = await bed.signInWithPassword(email);
    addPasskey(email);
    await bed.provider.setPeople({ pat: ANN });
    const asked = { workspaceId: shop.workspaceId, password: PASSWORD };
    assert.equal((await bed.ask('POST', '/me/single-sign-on', asked, own)).body['code'], 'confirm_first');
    bed.control.postgres.run(`UPDATE sessions SET confirmed_until = now() + interval '10 minutes'`);
    const linked = await link(own, shop.workspaceId, 'pat');
    assert.equal(linked.status, 200);
  });

  test('act as an operator, who the same person is with a password', async () => {
    const shop = await bed.openShop();
    const { email } = await bed.addPerson(shop.workspaceId);
    const own = await bed.signInWithPassword(email);
    bed.control.postgres.run(
      `INSERT INTO operators (kind, id, added_by) SELECT 'user', id, 'test' FROM users WHERE email = '${email}'`,
    );
    await bed.provider.setPeople({ pat: ANN });
    assert.equal((await link(own, shop.workspaceId, 'pat')).status, 200);
    const bound = sessionIn(await bed.signIn(shop.workspaceId, 'pat'));
    assert.equal((await bed.ask('GET', '/operators', undefined, own)).status, 200);
    assert.equal((await bed.ask('GET', '/operators', undefined, bound)).status, 403);
    assert.equal((await bed.ask('GET', '/me', undefined, bound)).body['isOperator'], false);
  });

  test('have a password made for an account of its own', async () => {
    const shop = await bed.openShop();
    await bed.provider.setPeople({ ann: ANN });
    const headers = sessionIn(await bed.signIn(shop.workspaceId, 'ann'));
    const { id } = (await bed.ask('GET', '/me', undefined, headers)).body['user'] as { id: string };
    const made = await bed.control.ask('POST', `/api/v1/members/${id}/password-link`, { token: shop.owner });
    assert.equal(made.status, 403);
    assert.match(made.text, /single sign-on/);
  });
});
