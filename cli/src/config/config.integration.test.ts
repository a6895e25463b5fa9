import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { signBody } from '@millrace/contract';
import { addToken, addWorkspace } from '../../../server/testing/control.ts';
import { type CliScene, openScene } from '../../testing/open-scene.ts';
import { openPerson, type Person } from '../../testing/open-person.ts';

const SECRETS = {
  WEB_ORDERS_SHARED_SECRET: 'the secret of orders',
  WEB_FAILING_SHARED_SECRET: 'the secret of failing',
  WEB_LATE_SHARED_SECRET: 'the secret of late',
  WEB_REFUSING_SHARED_SECRET: 'the secret of refusing',
  MOBILE_OLD_CRM_SHARED_SECRET: 'the secret of old-crm',
  WEB_ORDERS_0_HEADERS_X_TEAM: 'orders team',
};

const BIG_SPENDERS = '{"event":"Order Completed","sum":"properties.revenue","window":"30d","atLeast":500}';

const stack = new AsyncDisposableStack();
let scene: CliScene;
let person: Person;
/** The environment of an empty workspace of the same server. */
let other: Record<string, string>;

before(async () => {
  scene = stack.use(await openScene());
  person = stack.use(await openPerson(scene.environment()));
  const store = scene.stack.store();
  const workspaceId = await addWorkspace(store, 'Copy');
  other = { MILLRACE_TOKEN: await addToken(store, workspaceId, { role: 'owner' }) };
  for (const line of [
    'millrace sources update web --rate-limit 500',
    'millrace sources block web "Debug Ping"',
    'millrace sources disable staging',
    'millrace destinations pause failing',
    'millrace destinations disable refusing',
    'millrace destinations update orders --filter "type equals track" --filter \'properties.plan one_of ["pro","team"]\' --max-per-second 50',
    `millrace destinations update orders --url ${scene.receivers.good.url} --header "X-Team: orders team"`,
    `millrace audiences create "Big spenders" --when '${BIG_SPENDERS}' --source web --destination orders --include-anonymous`,
    'millrace audiences edit big_spenders --name Whales',
    'millrace audiences create "Total (EUR)" --compute sum --event "Order Completed" --field properties.revenue --settle 5',
  ]) {
    const { code, stderr } = await person.shell(line);
    assert.equal(code, 0, `${line}: ${stderr}`);
  }
});
after(() => stack.disposeAsync());

suite('the configuration of a workspace as a file', () => {
  test('export, applied to an empty workspace, reproduces it; applied twice it changes nothing', async () => {
    const env = { ...other, ...SECRETS };
    const first = await person.shell('millrace export | tee first.yaml');
    assert.equal(first.code, 0, first.stderr);
    const applied = await person.shell('millrace apply --yes first.yaml', { env });
    assert.equal(applied.code, 0, applied.stderr);
    assert.match(applied.stdout, /\+ source "mobile"/);
    assert.equal((await person.shell('millrace export', { env: other })).stdout, first.stdout);
    const again = await person.shell('millrace apply --yes first.yaml', { env: other });
    assert.equal(again.stdout, 'The workspace is as the file says.\n');
    assert.equal((await person.shell('millrace apply --check first.yaml', { env: other })).code, 0);
    assert.equal((await person.shell('millrace export --check first.yaml', { env: other })).code, 0);
  });

  test('a definition keeps its key and is applied with the names of its workspace; an audience that asks for it comes after it', async () => {
    const env = other;
    const yaml = (await person.shell('millrace export', { env })).stdout;
    assert.match(yaml, /^ {2}big_spenders:\n {4}kind: audience\n {4}name: Whales$/m);
    assert.doesNotMatch(yaml, /(aud|trt|src|dst)_[0-9a-f]{32}/);
    const asks =
      '  a_first:\n    kind: audience\n    name: A first\n    when:\n      not:\n        audience: big_spenders\n';
    await writeFile(join(person.home, 'asks.yaml'), `${yaml}${asks}`);
    const applied = await person.shell('millrace apply --yes asks.yaml', { env });
    assert.match(applied.stdout, /\+ audience or computed trait "a_first"/, applied.stderr);
    assert.equal((await person.shell('millrace apply --check asks.yaml', { env })).code, 0);
    const without = yaml.slice(0, yaml.indexOf('definitions:'));
    await writeFile(join(person.home, 'none.yaml'), `${without}definitions: {}\n`);
    const left = await person.shell('millrace apply --check none.yaml', { env });
    assert.match(
      left.stdout,
      /left alone: .*audience or computed trait "a_first", audience or computed trait "big_spenders"/,
    );
    // A file that says nothing of definitions leaves them alone, also when it prunes.
    await writeFile(join(person.home, 'older.yaml'), without);
    assert.equal((await person.shell('millrace apply --check --prune older.yaml', { env })).code, 0);
    const wrong = yaml.replace('atLeast: 500', 'atLeast: many');
    await writeFile(join(person.home, 'wrong.yaml'), wrong);
    assert.match((await person.shell('millrace apply wrong.yaml', { env })).stderr, /when\.atLeast must be a number/);
    const pruned = await person.shell('millrace apply --yes --prune none.yaml', { env });
    assert.equal(pruned.code, 0, pruned.stderr);
    assert.doesNotMatch((await person.shell('millrace export', { env })).stdout, /definitions:/);
  });

  test('the secrets of the environment are those that sign', async () => {
    const { stdout } = await person.shell('millrace destinations test orders --json', { env: other });
    const { request } = JSON.parse(stdout) as { request: { body: string; headers: { name: string; value: string }[] } };
    const signature = request.headers.find(({ name }) => name === 'X-Signature')?.value;
    assert.equal(signature, signBody(SECRETS.WEB_ORDERS_SHARED_SECRET, request.body));
    assert.ok(request.headers.some(({ name }) => name === 'X-Team'));
  });

  test('nothing that is exported is a secret', async () => {
    const { stdout } = await person.shell('millrace export; millrace export --json');
    assert.match(stdout, /sharedSecret: \$\{env:WEB_ORDERS_SHARED_SECRET\}/);
    for (const secret of ['a secret of the shop', 'orders team', scene.web.key])
      assert.ok(!stdout.includes(secret), secret);
  });

  test('a difference is shown field by field, exits with 6 for --check, and is gone after apply', async () => {
    const path = join(person.home, 'changed.yaml');
    const yaml = (await person.shell('millrace export', { env: other })).stdout;
    await writeFile(
      path,
      yaml.replace('rateLimitPerSecond: 500', 'rateLimitPerSecond: 700').replace('- Debug Ping', '- Debug Pong'),
    );
    const checked = await person.shell('millrace apply --check changed.yaml', { env: other });
    assert.equal(checked.code, 6);
    assert.match(
      checked.stdout,
      /~ source "web"\n {4}rateLimitPerSecond: 500 → 700\n {4}blockedEvents: - Debug Ping\n {4}blockedEvents: \+ Debug Pong\n1 change\.\n/,
    );
    assert.equal(
      (await person.shell('millrace apply changed.yaml', { env: other })).code,
      2,
      'without a terminal it needs --yes',
    );
    const json = await person.shell('millrace apply changed.yaml --yes --json', { env: other });
    assert.equal((JSON.parse(json.stdout) as { applied: boolean }).applied, true);
    assert.equal((await person.shell('millrace apply --check changed.yaml', { env: other })).code, 0);
  });

  test('what the file does not have stays, and goes with --prune', async () => {
    await person.shell('millrace sources create "By hand"', { env: other });
    const kept = await person.shell('millrace apply --check changed.yaml', { env: other });
    assert.equal(kept.code, 0);
    assert.match(kept.stdout, /left alone: source "By hand"/);
    assert.match(
      (await person.shell('millrace apply --prune --yes changed.yaml', { env: other })).stdout,
      /- source "By hand"/,
    );
    assert.doesNotMatch((await person.shell('millrace sources', { env: other })).stdout, /By hand/);
  });
});

suite('a file that cannot be applied changes nothing', () => {
  const cases: [name: string, change: (yaml: string) => string, code: number, says: RegExp][] = [
    [
      'a secret that is nowhere',
      (yaml) => yaml.replace('old-crm:', 'new-crm:').replace('MOBILE_OLD_CRM', 'NOWHERE'),
      2,
      /does not have these secrets yet.*\$\{env:NOWHERE_SHARED_SECRET\} of "new-crm"/,
    ],
    ['a URL that control refuses', (yaml) => yaml.replace(/url: .*/, 'url: ftp://example.com'), 3, /must/],
  ];
  for (const [name, change, code, says] of cases) {
    test(name, async () => {
      const yaml = (await person.shell('millrace export | tee before.yaml')).stdout;
      await writeFile(join(person.home, 'bad.yaml'), change(yaml));
      const ran = await person.shell('millrace apply --yes bad.yaml', { env: { WEB_ORDERS_0_HEADERS_X_TEAM: 'x' } });
      assert.equal(ran.code, code, ran.stderr);
      assert.match(ran.stderr, says);
      assert.equal(
        (await person.shell('millrace export')).stdout,
        await readFile(join(person.home, 'before.yaml'), 'utf8'),
      );
    });
  }
});
