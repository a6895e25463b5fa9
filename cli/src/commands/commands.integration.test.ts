/** Commands against a real server: signing in, exit codes, and text of others in a terminal. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmod, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { freePorts } from '@millrace/engines';
import { until } from '../../../server/testing/until.ts';
import { type CliScene, openScene, TOKEN } from '../../testing/open-scene.ts';
import { openPerson, type Person } from '../../testing/open-person.ts';

const PASSWORD = 'correct horse battery staple';

const stack = new AsyncDisposableStack();
let scene: CliScene;
let person: Person;

before(async () => {
  scene = stack.use(await openScene());
  const [closed] = await freePorts(1);
  const env = { ...scene.environment(), NOWHERE: `http://127.0.0.1:${closed}`, TERM: 'xterm-256color' };
  person = stack.use(await openPerson(env));
  const invited = await scene.stack.get('POST', '/invitations', { email: 'ann@example.com', role: 'developer' });
  await scene.stack.get('POST', '/invitations/accept', { token: invited['token'], name: 'Ann', password: PASSWORD });
});
after(() => stack.disposeAsync());

suite('signing in', () => {
  /** A person without anything in the environment. */
  const open = () => openPerson();

  test('a token from standard input is checked, saved for the owner of the file alone, and used', async () => {
    await using nobody = await open();
    const ran = await nobody.shell(`echo ${TOKEN} | millrace login --server ${scene.server()}`);
    assert.equal(ran.code, 0, ran.stderr);
    const file = join(nobody.home, '.config/millrace/profiles.json');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(join(nobody.home, '.config/millrace'))).mode & 0o777, 0o700);
    assert.match((await nobody.shell('millrace whoami')).stdout, /owner of Default on http/);
    await chmod(file, 0o644);
    const exposed = await nobody.shell('millrace whoami');
    assert.equal(exposed.code, 78);
    assert.match(exposed.stderr, /Other users can read .*\nRun: chmod 600 /);
  });

  test('a password typed at a terminal is never shown, gives a session, and logout ends it', async () => {
    await using nobody = await open();
    const line = `script -qec "millrace login --server ${scene.server()} --email ann@example.com" /dev/null`;
    const ran = await nobody.shell(line, { typed: { prompt: 'Password: ', answer: `${PASSWORD}\r` } });
    assert.equal(ran.code, 0, ran.stdout + ran.stderr);
    assert.match(ran.stdout, /Signed in as ann@example\.com \(Ann\), developer of Default/);
    assert.doesNotMatch(ran.stdout + ran.stderr, /horse/);
    assert.equal((await nobody.shell('millrace sources create "By Ann"')).code, 0, 'a session may write');
    const sessions = () => scene.stack.sql('SELECT 1 FROM sessions');
    assert.equal((await sessions()).length, 2, 'that of the invitation, and this one');
    assert.equal((await nobody.shell('millrace logout')).code, 0);
    assert.equal((await sessions()).length, 1);
    assert.equal((await nobody.shell('millrace whoami')).code, 2);
  });

  test('an account with a second factor is asked for a code at a terminal, and refused without one', async () => {
    const email = 'tom@example.com';
    const invited = await scene.stack.get('POST', '/invitations', { email, role: 'viewer' });
    await scene.stack.get('POST', '/invitations/accept', { token: invited['token'], name: 'Tom', password: PASSWORD });
    const [user] = await scene.stack.sql<{ id: string }>('SELECT id FROM users WHERE email = $1', [email]);
    const code = '0123456789abcdef';
    const hash = createHash('sha256')
      .update(JSON.stringify([user?.id, code]))
      .digest();
    await scene.stack.sql('INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)', [user?.id, hash]);
    await scene.stack.sql(
      `INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name)
       VALUES ('pky_1', $1, 'AA', '', 0, '{}', 'Key')`,
      [user?.id],
    );
    await using nobody = await open();
    const login = `millrace login --server ${scene.server()} --email ${email}`;
    const piped = await nobody.shell(`echo "${PASSWORD}" | ${login}`);
    assert.equal(piped.code, 3, piped.stdout + piped.stderr);
    assert.match(piped.stderr, /has a second factor.*\n.*API token/);
    const typed = [
      { prompt: 'Password: ', answer: `${PASSWORD}\r` },
      { prompt: 'recovery code: ', answer: '0123-4567-89AB-CDEF\r' },
    ];
    const ran = await nobody.shell(`script -qec "${login}" /dev/null`, { typed });
    assert.equal(ran.code, 0, ran.stdout + ran.stderr);
    assert.match(ran.stdout, /Signed in as tom@example\.com/);
    await scene.stack.sql('DELETE FROM sessions WHERE user_id = $1', [user?.id]);
  });

  test('a wrong password and a wrong token are refused, and nothing is saved', async () => {
    await using nobody = await open();
    const wrong = await nobody.shell(
      `echo wrong-password | millrace login --server ${scene.server()} --email ann@example.com`,
    );
    assert.equal(wrong.code, 3);
    assert.match(wrong.stderr, /The email address or the password is wrong/);
    assert.equal((await nobody.shell(`echo mlr_wrong-token | millrace login --server ${scene.server()}`)).code, 3);
    await assert.rejects(stat(join(nobody.home, '.config/millrace/profiles.json')));
  });

  test('the credential of a profile never goes to another server', async () => {
    await using nobody = await open();
    await nobody.shell(`echo ${TOKEN} | millrace login --server ${scene.server()}`);
    const ran = await nobody.shell('millrace whoami --server http://127.0.0.1:1');
    assert.equal(ran.code, 3);
    assert.match(ran.stderr, /You are not signed in to http:\/\/127\.0\.0\.1:1/);
  });
});

suite('exit codes', () => {
  const cases: [line: string, code: number, says: RegExp][] = [
    ['millrace sources', 0, /^$/],
    ['millrace nonsense', 2, /unknown command/],
    ['millrace sources list --nonsense', 2, /unknown option/],
    ['millrace deliveries list --since yesterdayish', 2, /is no time/],
    ['MILLRACE_TOKEN=mlr_wrong millrace sources', 3, /not signed in.*\nSign in with millrace login/i],
    ['millrace destinations create x --source web --url ftp://example.com', 3, /settings\.targets\.0\.url/],
    [
      'millrace sources show nowhere',
      4,
      /There is no source "nowhere".*\nThere are: "mobile", "staging", "web"|There are: /,
    ],
    ['millrace deliveries show dlv_nowhere', 4, /does not exist/],
    ['millrace explain nobody-sent-this', 4, /no record of this event/],
    ['MILLRACE_URL=$NOWHERE millrace whoami', 5, /nothing listens there/],
    ['MILLRACE_URL=http://nowhere.invalid millrace whoami', 5, /the name does not exist|name server does not answer/],
    ['millrace send track Test --collect $NOWHERE --source web --user u1', 5, /nothing listens there/],
    ['millrace send track Test --write-key wrong --user u1', 3, /invalid_write_key/],
    ['millrace send track --source web --user u1', 3, /event_not_defined/],
    ['millrace destinations check-url http://10.0.0.5/hook', 6, /cannot be used/],
    ['millrace users delete u9', 2, /--yes/],
    ['printf x | millrace verify --secret s3cret --signature 00', 6, /not valid/],
  ];
  for (const [line, code, says] of cases) {
    test(`${code} for ${line}`, async () => {
      const ran = await person.shell(line);
      assert.equal(ran.code, code, ran.stdout + ran.stderr);
      assert.match(ran.stderr, says);
    });
  }

  test('every failure is one sentence and a remedy, and no stack trace', async () => {
    const { stderr } = await person.shell('MILLRACE_URL=$NOWHERE millrace whoami');
    assert.match(
      stderr,
      /^millrace: http:\/\/127\.0\.0\.1:\d+ cannot be reached: nothing listens there\.\nCheck .*\.\n$/,
    );
  });
});

suite('text of others', () => {
  // oxlint-disable-next-line no-control-regex -- the characters that must not come through
  const DANGEROUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
  const ESCAPES = '\u001b[2J\u001b]0;owned\u0007\u009b31m\r\u202e\u2066';

  test('cannot move the cursor, whichever command prints it', async () => {
    const key = scene.web.key;
    await scene.stack.get('PATCH', `/destinations/${scene.destinations.orders}`, { name: `orders\u009b2J\u202e` });
    const messageId = `hostile-1`;
    const send = () =>
      scene.stack.send(key, [
        {
          type: 'track',
          userId: `u${ESCAPES}`,
          event: `E${ESCAPES}\nmillrace: fake line`,
          messageId,
          properties: { a: ESCAPES },
        },
        { type: 'track', userId: `u${ESCAPES}`, anonymousId: ESCAPES, event: 7, messageId: ESCAPES },
      ]);
    const lines = [
      'millrace tail --source web --limit 4',
      'millrace tail --source web --limit 4 --json',
      'millrace deliveries list; millrace deliveries list --json',
      `for id in $(millrace deliveries list --message-id ${messageId} --json | grep -o 'dlv_[^"]*'); do millrace deliveries show $id; millrace deliveries show $id --curl; done`,
      `millrace explain ${messageId}`,
      'millrace destinations; millrace destinations show "$ORDERS"; millrace destinations health "$ORDERS"',
      'millrace dead-letters --json; millrace dead-letters show dl_1',
      'millrace replay create --destination "$ORDERS" --since 1h --dry-run',
      'millrace sources events web',
      'millrace export',
    ];
    await send();
    await until(
      async () => /hostile-1/.test((await person.shell(`millrace explain ${messageId} --json`)).stdout),
      60_000,
    );
    for (const line of lines) {
      const ends = new AbortController();
      const sending = line.includes('tail') ? keepDoing(send, ends.signal) : Promise.resolve();
      const { stdout, stderr } = await person.shell(line, { env: { ORDERS: scene.destinations.orders } });
      ends.abort();
      await sending;
      const found = DANGEROUS.exec(stdout + stderr);
      assert.equal(
        found,
        null,
        `${line}: ${JSON.stringify((stdout + stderr).slice(found?.index ?? 0, (found?.index ?? 0) + 80))}`,
      );
      assert.doesNotMatch(stdout, /^millrace: fake line/m, line);
    }
  });

  test('of a failure is harmless as well', async () => {
    const { stderr } = await person.shell(`millrace sources show $'we\\e[2Jb'`);
    assert.doesNotMatch(stderr, DANGEROUS);
    await writeFile(join(person.home, 'evil.yaml'), `version: 1\nsources: { "a\\e[2J": { "b\\e[2J": 1 } }\n`);
    assert.doesNotMatch((await person.shell('millrace apply evil.yaml')).stderr, DANGEROUS);
  });

  // oxlint-disable-next-line no-control-regex -- the beginning of a colour
  const COLOUR = /\u001b\[\d/;

  test('colours come to a terminal alone, and never with NO_COLOR', async () => {
    const list = 'script -qec "millrace destinations" /dev/null';
    assert.match((await person.shell(list)).stdout, COLOUR);
    assert.doesNotMatch((await person.shell(list, { env: { NO_COLOR: '1' } })).stdout, COLOUR);
    assert.doesNotMatch((await person.shell('millrace destinations')).stdout, COLOUR);
  });
});

/** One call after the other until the signal. */
async function keepDoing(act: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await act();
}
