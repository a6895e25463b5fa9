import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { addMember, addToken, addWorkspace, startTestControl, type TestControl } from '../../../../testing/control.ts';
import { until } from '../../../../testing/until.ts';
import { hashPassword } from '../../access/password.ts';

let control: TestControl;
before(async () => {
  control = await startTestControl();
});
after(async () => control[Symbol.asyncDispose]());

async function openScene() {
  const workspaceId = await addWorkspace(control.store);
  const owner = await addToken(control.store, workspaceId, { role: 'owner' });
  const admin = await addToken(control.store, workspaceId, { role: 'admin' });
  return { workspaceId, owner, admin };
}

let people = 0;
const newPerson = (role: 'owner' | 'admin' | 'viewer') => {
  people += 1;
  return { email: `person${people}@example.com`, passwordHash: null, role };
};

const PASSWORD = 'a long password';
const OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin', 'Millrace-Csrf': '1' };

async function invite(token: string, email: string, role: string) {
  const answer = await control.ask('POST', '/api/v1/invitations', { token, body: { email, role } });
  assert.equal(answer.status, 201, answer.text);
  return answer.body as { id: string; token: string; link: string; sentByMail: boolean };
}

const accept = (token: string, password = PASSWORD) =>
  control.ask('POST', '/api/v1/invitations/accept', { body: { token, name: 'Somebody', password } });

async function signIn(email: string, password: string): Promise<number> {
  return (await control.ask('POST', '/api/v1/session', { body: { email, password } })).status;
}

async function cookieOf(email: string, password: string): Promise<{ Cookie: string }> {
  const answer = await control.ask('POST', '/api/v1/session', { body: { email, password } });
  return { Cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
}

/** The only member. */
async function idOf(token: string): Promise<string> {
  const { items } = (await control.ask('GET', '/api/v1/members', { token })).body as { items: { userId: string }[] };
  assert.equal(items.length, 1);
  return items[0]?.userId ?? '';
}

suite('members', () => {
  test('join by a link that works once, with a password that only they know', async () => {
    const { owner, workspaceId } = await openScene();
    const { link, token, sentByMail, ...invitation } = await invite(owner, 'dee@example.com', 'developer');
    assert.equal(link, `/join#token=${token}`);
    assert.equal(sentByMail, false);
    const list = await control.ask('GET', '/api/v1/invitations', { token: owner });
    assert.deepEqual((list.body['items'] as object[])[0], invitation);
    assert.equal(list.text.includes(token), false, 'it is shown once');
    const before = await control.store.asSystem((tx) => tx.query('SELECT secret_hash::text AS hash FROM invitations'));
    assert.equal(JSON.stringify(before).includes(token), false, 'and kept as a hash');
    const joined = await accept(token);
    assert.equal(joined.status, 201, joined.text);
    const [workspace] = joined.body['workspaces'] as { id: string; role: string }[];
    assert.deepEqual([workspace?.id, workspace?.role], [workspaceId, 'developer']);
    assert.ok(joined.headers.getSetCookie()[0]?.startsWith('__Host-millrace='), 'and are signed in');
    assert.equal((await accept(token)).status, 404, 'used up');
    assert.equal(await signIn('dee@example.com', PASSWORD), 204);
    const again = await control.ask('POST', '/api/v1/invitations', {
      token: owner,
      body: { email: 'Dee@example.com', role: 'viewer' },
    });
    assert.equal(again.status, 409, 'of this workspace already');
  });

  test('keep the password that only they know, however many links to their account others have', async () => {
    const [one, other] = [await openScene(), await openScene()];
    const first = await invite(one.owner, 'victim@b.example', 'viewer');
    assert.equal((await accept(first.token, 'words of the attacker')).status, 201);
    const invited = await invite(other.owner, 'victim@b.example', 'owner');
    assert.equal((await accept(invited.token, 'words of somebody else')).status, 401);
    assert.equal(await signIn('victim@b.example', 'words of somebody else'), 401);
    const headers = await cookieOf('victim@b.example', 'words of the attacker');
    const read = { headers: { ...headers, 'Millrace-Workspace': other.workspaceId } };
    assert.equal((await control.ask('GET', '/api/v1/workspace', read)).status, 404, 'without the link nobody is in');
    const removed = await control.ask('DELETE', `/api/v1/members/${await idOf(one.owner)}`, { token: one.owner });
    assert.equal(removed.status, 204);
    assert.equal((await control.ask('GET', '/api/v1/workspace', read)).status, 403);
  });

  test('do not have their password guessed by a link: the limit of wrong tries and the audit log are those of sign-in', async () => {
    const [one, other] = [await openScene(), await openScene()];
    await accept((await invite(one.owner, 'guessed@example.com', 'viewer')).token);
    const { token } = await invite(other.owner, 'guessed@example.com', 'viewer');
    assert.equal((await accept(token, 'a wrong long password')).status, 401);
    const counted = await control.store.asSystem((tx) =>
      tx.query('UPDATE sign_in_failures SET failures = 50 RETURNING 1 AS one'),
    );
    assert.equal(counted.length > 0, true);
    assert.equal((await accept(token)).status, 429);
    await control.store.asSystem((tx) => tx.query('DELETE FROM sign_in_failures'));
    const log = async () => (await control.ask('GET', '/api/v1/audit-log', { token: one.owner })).text;
    await until(async () => (await log()).includes('session.refused'));
  });

  test('join with the account that they are signed in with', async () => {
    const [one, other] = [await openScene(), await openScene()];
    await accept((await invite(one.owner, 'eve@example.com', 'viewer')).token);
    const { token } = await invite(other.owner, 'eve.work@example.com', 'admin');
    const headers = { ...(await cookieOf('eve@example.com', PASSWORD)), ...OUR_PAGE };
    const joined = await control.ask('POST', '/api/v1/me/workspaces', { headers, body: { token } });
    assert.equal(joined.status, 201, joined.text);
    assert.equal((joined.body['workspaces'] as object[]).length, 2);
  });

  test('cannot be told from strangers by an answer to whoever invites them', async () => {
    const { owner } = await openScene();
    const answers = ['dee@example.com', 'nobody.at.all@example.com'].map(async (email) => {
      const answer = await control.ask('POST', '/api/v1/invitations', {
        token: owner,
        body: { email, role: 'viewer' },
      });
      return [answer.status, Object.keys(answer.body)];
    });
    assert.deepEqual(await answers[0], await answers[1]);
  });

  test('are not let in by a link that was withdrawn, replaced, is too old, or whose maker may not give it any more', async () => {
    const { owner, admin, workspaceId } = await openScene();
    const withdrawn = await invite(owner, 'w@example.com', 'viewer');
    assert.equal((await control.ask('DELETE', `/api/v1/invitations/${withdrawn.id}`, { token: admin })).status, 204);
    assert.equal((await accept(withdrawn.token)).status, 404);
    const replaced = await invite(owner, 'r@example.com', 'viewer');
    await invite(owner, 'R@example.com', 'viewer');
    assert.equal((await accept(replaced.token)).status, 404);
    const old = await invite(owner, 'o@example.com', 'viewer');
    await control.store.inWorkspace(workspaceId, (tx) =>
      tx.query(`UPDATE invitations SET expires_at = expires_at - interval '72 hours' WHERE id = $1`, [old.id]),
    );
    assert.equal((await accept(old.token)).status, 404);

    const passwordHash = await hashPassword(PASSWORD);
    const maker = await addMember(control.store, workspaceId, { email: 'mk@example.com', passwordHash, role: 'owner' });
    await addMember(control.store, workspaceId, newPerson('owner'));
    const headers = { ...(await cookieOf('mk@example.com', PASSWORD)), ...OUR_PAGE };
    const asMaker = async (email: string) => {
      const answer = await control.ask('POST', '/api/v1/invitations', { headers, body: { email, role: 'admin' } });
      return String(answer.body['token']);
    };
    const [demoted, removed] = [await asMaker('d1@example.com'), await asMaker('d2@example.com')];
    await control.ask('PATCH', `/api/v1/members/${maker}`, { token: owner, body: { role: 'developer' } });
    assert.equal((await accept(demoted)).status, 404);
    await control.ask('DELETE', `/api/v1/members/${maker}`, { token: owner });
    assert.equal((await accept(removed)).status, 404);
  });

  test('cannot be made, changed or removed above the own role', async () => {
    const { workspaceId, admin } = await openScene();
    const ownerId = await addMember(control.store, workspaceId, newPerson('owner'));
    await addMember(control.store, workspaceId, newPerson('owner'));
    const viewerId = await addMember(control.store, workspaceId, newPerson('viewer'));
    const ask = async (method: string, path: string, body?: object) =>
      (await control.ask(method, `/api/v1/members${path}`, { token: admin, body })).status;
    const body = { email: 'o@example.com', role: 'owner' };
    const invited = await control.ask('POST', '/api/v1/invitations', { token: admin, body });
    assert.equal(invited.status, 403);
    // A new invitation ends the link of the one before: a member cannot end one for a higher role by it.
    const owner = await addToken(control.store, workspaceId, { role: 'owner' });
    assert.equal((await control.ask('POST', '/api/v1/invitations', { token: owner, body })).status, 201);
    const lower = { ...body, role: 'viewer' };
    assert.equal((await control.ask('POST', '/api/v1/invitations', { token: admin, body: lower })).status, 403);
    assert.equal((await control.ask('POST', '/api/v1/invitations', { token: owner, body: lower })).status, 201);
    assert.equal(await ask('PATCH', `/${viewerId}`, { role: 'owner' }), 403);
    assert.equal(await ask('PATCH', `/${ownerId}`, { role: 'viewer' }), 403);
    assert.equal(await ask('DELETE', `/${ownerId}`), 403);
    assert.equal(await ask('PATCH', `/${viewerId}`, { role: 'admin' }), 200);
    assert.equal(await ask('DELETE', `/${viewerId}`), 204);
    assert.equal(await ask('DELETE', `/${viewerId}`), 404);
  });

  test('always leave an owner, even when two owners go at the same moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { workspaceId, owner } = await openScene();
      const ids = [
        await addMember(control.store, workspaceId, newPerson('owner')),
        await addMember(control.store, workspaceId, newPerson('owner')),
      ];
      const answers = await Promise.all([
        control.ask('DELETE', `/api/v1/members/${ids[0]}`, { token: owner }),
        control.ask('PATCH', `/api/v1/members/${ids[1]}`, { token: owner, body: { role: 'viewer' } }),
      ]);
      const refused = answers.filter((answer) => answer.status === 409);
      assert.deepEqual(
        refused.map((answer) => answer.body['code']),
        ['last_owner'],
        `round ${round}: ${answers.map((answer) => answer.status).join()}`,
      );
    }
  });
});
