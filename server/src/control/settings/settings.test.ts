import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { suite, test } from 'node:test';
import { CATALOG, type CatalogEntry } from '@millrace/contract/control';
import { Type } from 'typebox';
import { readSettings } from './read-settings.ts';
import { openKeyRing } from '../../secrets/seal.ts';
import {
  hideSettings,
  openSettings,
  resealSettings,
  rotateSecret,
  sealSettings,
} from '../../secrets/sealed-settings.ts';
import { readNetworks } from '../../http/address-policy.ts';

const [webhooks] = CATALOG;
if (webhooks === undefined) throw new Error('the catalog is empty');
const URL_1 = 'https://one.example/hook';
const URL_2 = 'https://two.example/hook';
const KEY_1 = randomBytes(32);
const KEY_2 = randomBytes(32);
const keyRing = openKeyRing(new Map([[1, KEY_1]]));
const bothKeys = openKeyRing(new Map([[1, KEY_1], [2, KEY_2]])); // biome-ignore format: one line says it
const owner = { workspaceId: 'ws_1', destinationId: 'dst_1' };

/** A second kind of destination, as a contributor would add it: data only. */
const QUEUE: CatalogEntry = {
  name: 'Queue',
  accepts: ['track'],
  acceptsHistory: false,
  settings: Type.Object(
    {
      server: Type.String({ kind: 'webhook-url' }),
      login: Type.Object({ user: Type.String(), password: Type.String({ minLength: 3, secret: true, rotates: true }) }),
      tokens: Type.Optional(Type.Array(Type.String({ secret: true }))),
    },
    { additionalProperties: false },
  ),
};

suite('the settings of a webhook', () => {
  test('are one to five targets with headers, and the rest left out', () => {
    for (const count of [1, 5]) {
      const targets = Array.from({ length: count }, (_, i) => ({
        url: `https://${i}.example/`,
        headers: { 'X-A': 'b c' },
      }));
      assert.ok(read({ targets }).ok);
    }
    const all = { successPolicy: 'all', bodyFormat: 'full', order: 'user', maxConcurrency: 1, maxPerSecond: 100_000 };
    assert.ok(read({ targets: [{ url: URL_1 }], sharedSecret: 'long enough ✓', ...all }).ok);
  });

  test('are refused with the path and what to change', () => {
    const target = { url: URL_1 };
    const refused: [settings: unknown, path: string, message: RegExp][] = [
      [5, '/', /object/],
      [{}, '/', /targets/],
      [{ targets: [] }, '/targets', /fewer than 1/],
      [{ targets: Array.from({ length: 6 }, () => target) }, '/targets', /more than 5/],
      [{ targets: [{ url: '/hook' }] }, '/targets/0/url', /absolute/],
      [{ targets: [target, { url: 'http://10.0.0.1/' }] }, '/targets/1/url', /not public/],
      [{ targets: [{ ...target, extra: 1 }] }, '/targets/0/extra', /not known/],
      [{ targets: [target], sharedSecret: 'short' }, '/sharedSecret', /8 characters/],
      [{ targets: [target], sharedSecret: 'NUL is \u0000 here' }, '/sharedSecret', /NUL/],
      [{ targets: [{ url: 'https://a.example/\ud800' }] }, '/targets/0/url', /surrogate/],
      [{ targets: [target], successPolicy: 'some' }, '/successPolicy', /one of: any, all/],
      [{ targets: [target], maxConcurrency: 0 }, '/maxConcurrency', /1/],
      [{ targets: [target], unknown: true }, '/unknown', /not known/],
    ];
    for (const [settings, path, message] of refused) assert.match(problemAt(settings, path), message, path);
  });

  test('report everything that is wrong at once', () => {
    const answer = read({ targets: [{ url: 'x', headers: { Host: 'a', 'X-B': '\n' } }], sharedSecret: 'short' });
    assert.deepEqual(answer.ok ? [] : answer.errors.map((error) => error.path).sort(), [
      '/sharedSecret',
      '/targets/0/headers/Host',
      '/targets/0/headers/X-B',
      '/targets/0/url',
    ]);
  });
});

suite('a shared secret', () => {
  const problem = (sharedSecret: string) => problemAt({ targets: [{ url: URL_1 }], sharedSecret }, '/sharedSecret');

  test('that starts with whsec_ must go on with a key in base64', () => {
    const noKey = ['whsec_%%', 'whsec_----', 'whsec_not base64 at all', 'whsec_AAAA', 'whsec_AAAAAAAAAAA'];
    const urlSafe = `whsec_${'_-_-'.repeat(8)}`;
    for (const secret of [...noKey, urlSafe]) assert.match(problem(secret), /base64/, secret);
    assert.equal(problem('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'), '');
    assert.equal(problem('whsec_AAAAAAAAAAA='), '');
  });

  test('that is made by hand may be any text', () => {
    for (const secret of ['schlüssel-😀', 'WHSEC_%%%', ' whsec_%%']) assert.equal(problem(secret), '', secret);
  });
});

suite('a static header', () => {
  const problem = (name: string, value: unknown) =>
    problemAt({ targets: [{ url: URL_1, headers: { [name]: value } }] }, `/targets/0/headers/${name}`);

  test('must not have a name that is ours or HTTP’s', () => {
    for (const name of [
      ...'Host Content-Length Content-Type User-Agent Connection Transfer-Encoding Upgrade TE'.split(' '),
      ...'Trailer Expect Keep-Alive Proxy-Authorization Proxy-Connection X-Signature webhook-id'.split(' '),
      ...'Webhook-Signature webhook-timestamp hOST x-signature X-Millrace-Attempt __proto__'.split(' '),
    ]) {
      assert.match(problem(name, 'a'), /reserved/, name);
    }
  });

  test('must have a name of header characters', () => {
    for (const name of ['', 'a b', 'a:b', 'é', 'a\r\nb', 'a\nb', 'a\u0000', '😀', 'a(b)', 'x'.repeat(101)]) {
      assert.match(problem(name, 'a'), /not a header name|NUL/, JSON.stringify(name));
    }
  });

  test('must have a value of visible characters', () => {
    for (const value of ['', 'a\r\nX-B: c', 'a\n', '\ra', 'a\u0000', '😀', 'é', ' a', 'a ', '\u007f', 5, null, {}]) {
      assert.notEqual(problem('X-A', value), '', JSON.stringify(value));
    }
    assert.equal(problem('X-A', 'Bearer abc\tdef=='), '');
  });

  test('must not be there twice in different case', () => {
    const settings = { targets: [{ url: URL_1, headers: { 'X-A': '1', 'x-a': '2' } }] };
    assert.match(problemAt(settings, '/targets/0/headers/x-a'), /twice/);
  });
});

// Secrets here have a character that no sealed text has: two letters alone turn up in random base64 now and then.
suite('secret settings', () => {
  const given = {
    targets: [{ url: URL_1, headers: { 'X-Key': 'key 1' } }, { url: URL_2 }],
    sharedSecret: 'a long secret',
  };

  test('are stored sealed, shown as set, and open for their owner only', () => {
    const stored = seal(given);
    assert.doesNotMatch(JSON.stringify(stored), /key 1|a long secret/);
    const targets = [{ url: URL_1, headers: { 'X-Key': { set: true } } }, { url: URL_2 }];
    assert.deepEqual(hideSettings(webhooks, stored), { targets, sharedSecret: { set: true } });
    assert.deepEqual(openSettings(webhooks, stored, { owner, keyRing }).value, given);
    const other = { ...owner, destinationId: 'dst_2' };
    assert.throws(() => openSettings(webhooks, stored, { owner: other, keyRing }));
  });

  test('are kept when they are sent back as set, also when targets change places', () => {
    const stored = seal(given);
    const [first, second] = given.targets;
    const shown = { targets: [second, { ...first, headers: { 'X-Key': { set: true } } }], sharedSecret: { set: true } };
    assert.deepEqual(openSettings(webhooks, seal(shown, stored), { owner, keyRing }).value, {
      ...given,
      targets: [second, first],
    });
  });

  test('are not carried to another URL, where somebody else would read them', () => {
    const moved = { targets: [{ url: 'https://thief.example/', headers: { 'X-Key': { set: true } } }] };
    assert.match(problemAt(moved, '/targets/0/headers/X-Key', seal(given)), /send the value itself/);
    assert.match(problemAt({ ...given, sharedSecret: { set: true } }, '/sharedSecret'), /send the value itself/);
  });

  test('rotate with an overlap, and the old one is forgotten when it is over', () => {
    const validUntil = new Date('2030-01-01T00:00:00Z');
    const next = { text: 'the next secret', previousValidUntil: validUntil, owner, keyRing };
    const rotated = rotateSecret('sharedSecret', seal(given), next).settings;
    const open = openSettings(webhooks, rotated, { owner, keyRing });
    assert.equal(open.value['sharedSecret'], 'the next secret');
    assert.deepEqual(open.previous.get('/sharedSecret'), { value: 'a long secret', validUntil });
    const shown = hideSettings(webhooks, rotated);
    assert.equal(openSettings(webhooks, seal(shown, rotated), { owner, keyRing }).previous.size, 1, 'kept with it');

    assert.deepEqual(resealSettings(rotated, { owner, keyRing, now: new Date('2029-12-31') }), rotated);
    const later = resealSettings(rotated, { owner, keyRing, now: validUntil });
    assert.equal(openSettings(webhooks, later, { owner, keyRing }).previous.size, 0);
  });

  test('are sealed anew with the newest key', () => {
    const now = new Date();
    const anew = resealSettings(seal(given), { owner, keyRing: bothKeys, now });
    const onlyNew = openKeyRing(new Map([[2, KEY_2]]));
    assert.deepEqual(openSettings(webhooks, anew, { owner, keyRing: onlyNew }).value, given);
    assert.deepEqual(resealSettings(anew, { owner, keyRing: bothKeys, now }), anew);
  });
});

suite('a second entry of the catalog', () => {
  test('needs nothing but its schema', () => {
    const given = { server: URL_1, login: { user: 'u', password: 'pass word' }, tokens: ['token 1', 'token 2'] };
    const context = { networks: readNetworks('') };
    const answer = readSettings(QUEUE, given, context);
    assert.ok(answer.ok);
    const stored = sealSettings(QUEUE, answer.settings, { owner, keyRing });
    assert.doesNotMatch(JSON.stringify(stored), /pass word|token \d/);
    assert.deepEqual(openSettings(QUEUE, stored, { owner, keyRing }).value, given);
    const shown = hideSettings(QUEUE, stored);
    assert.deepEqual(shown, {
      ...given,
      login: { user: 'u', password: { set: true } },
      tokens: [{ set: true }, { set: true }],
    });
    const again = readSettings(QUEUE, shown, { ...context, stored });
    assert.ok(again.ok);
    assert.deepEqual(sealSettings(QUEUE, again.settings, { owner, keyRing }), stored);
    const bad = readSettings(
      QUEUE,
      { ...given, server: 'http://127.1/', login: { user: 'u', password: 'p' } },
      context,
    );
    assert.deepEqual(bad.ok ? [] : bad.errors.map((error) => error.path).sort(), ['/login/password', '/server']);
  });
});

function read(settings: unknown, stored?: Record<string, unknown>) {
  const networks = readNetworks('');
  return readSettings(webhooks as CatalogEntry, settings, stored === undefined ? { networks } : { networks, stored });
}

function seal(settings: unknown, stored?: Record<string, unknown>): Record<string, unknown> {
  const answer = read(settings, stored);
  assert.ok(answer.ok, JSON.stringify(answer));
  return sealSettings(webhooks as CatalogEntry, answer.settings, { owner, keyRing });
}

/** The problem at this path, or the empty string. */
function problemAt(settings: unknown, path: string, stored?: Record<string, unknown>): string {
  const answer = read(settings, stored);
  return answer.ok ? '' : (answer.errors.find((error) => error.path === path)?.message ?? '');
}
