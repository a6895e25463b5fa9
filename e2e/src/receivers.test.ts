/** The receivers that docs/use/receiving.md shows, run as a reader would run them and sent what Millrace sends. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { RECEIVERS_DIR, receiverCommand } from './receiver-commands.ts';
import { type Receiver, startReceiver } from './receiver-process.ts';

const ROOT_DIR = resolve(import.meta.dirname, '../..');
const MAX_BODY_BYTES = 512_000;

type Scheme = 'webhook-signature' | 'X-Signature';
type Case = { name: string; scheme?: string; format?: string; input: string; expect: string };
type Signing = { secrets: string[]; id: string; sentAt: number; body: string };
type Example = { name: string; schemes: Scheme[]; command(): string[] };

const PATHS: Record<Scheme, string> = { 'webhook-signature': '/webhooks', 'X-Signature': '/webhooks-sha1' };
const BOTH: Scheme[] = ['webhook-signature', 'X-Signature'];
/** One as Millrace makes them, one made by hand. */
const SECRETS = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'schlüssel-😀'];
const OTHER_SECRET = 'whsec_bmV3LXNlY3JldA==';

const buildDir = mkdtempSync(join(tmpdir(), 'millrace-receivers-'));
after(() => rmSync(buildDir, { recursive: true }));

const examples: Example[] = [
  { name: 'Node', schemes: BOTH, command: receiverCommand.node },
  { name: 'Node with Express', schemes: ['X-Signature'], command: receiverCommand.express },
  { name: 'Go', schemes: BOTH, command: () => receiverCommand.go(buildDir) },
  { name: 'Python', schemes: BOTH, command: receiverCommand.python },
];

test('this file signs as the contract says', () => {
  for (const { name, scheme, input, expect } of casesOf('signatures.json')) {
    const { secret, secrets = [secret], timestampSeconds: sentAt, ...rest } = JSON.parse(input);
    const headers = signedHeaders({ secrets, sentAt, ...rest });
    const made = scheme === 'hmac-sha1' ? headers['X-Signature'] : headers['webhook-signature'];
    assert.equal(made, JSON.parse(expect), name);
  }
});

test('the page shows the receivers as they are', () => {
  const shown = [...readPage().matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const files = readdirSync(RECEIVERS_DIR, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const codes = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
  assert.deepEqual(shown.toSorted(), codes.toSorted());
});

test('the page lists the fields of every body in their order', () => {
  const rows = [...readPage().matchAll(/^\| `(\w+)` \| (`(?:version|type)`, .*) \|$/gm)];
  const listed = new Map(rows.map(([, type, fields = '']) => [type, [...fields.matchAll(/`([\w ]+)`(\?)?/g)]]));
  assert.equal(listed.size, 7);
  for (const { format, expect } of casesOf('bodies.json')) {
    if (format !== 'documented' && format !== 'delete') continue;
    const body = JSON.parse(expect);
    const fields = listed.get(body.type) ?? [];
    // Every other field is there unless it is marked; of the user's ids the call chooses.
    const expected = fields.filter(([, name = '', mark]) => name in body || !(mark === '?' || name === 'userId'));
    const keys = Object.keys(body).filter((key) => key !== 'anonymousId');
    assert.deepEqual(
      keys,
      expected.map(([, name]) => name),
      expect,
    );
  }
});

test('the request that the page shows has the signatures of the secret that the page names', () => {
  const page = readPage();
  const [, secret = ''] = /with the secret `(.*?)`/.exec(page) ?? [];
  const [, head = '', body = ''] = /^```\nPOST [^\n]*\n(.*?)\n\n(.*?)\n```$/ms.exec(page) ?? [];
  const headers = new Headers(head.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]));
  const signing = { secrets: [secret], id: headers.get('webhook-id') ?? '', body };
  const expected = signedHeaders({ ...signing, sentAt: Number(headers.get('webhook-timestamp')) });
  for (const [name, value] of Object.entries(expected)) assert.equal(headers.get(name), value, name);
  assert.equal(JSON.stringify(JSON.parse(body)), body);
  assert.equal(headers.get('content-length'), String(Buffer.byteLength(body)));
});

for (const { name, schemes, command } of examples) {
  for (const secret of SECRETS)
    suite(`the receiver in ${name} with the secret ${secret}`, () => tell(schemes, secret, command));
}

function tell(schemes: Scheme[], secret: string, command: () => string[]): void {
  let receiver: Receiver;
  let count = 0;
  const single = casesOf('bodies.json').filter(({ format = '' }) => !format.startsWith('batch'));
  const bodies = single.map(({ expect }) => expect);
  const [body = ''] = bodies;
  const now = () => Math.floor(Date.now() / 1_000);
  const signing = (some: Partial<Signing> = {}): Signing => {
    return { secrets: [secret], id: `dlv_${count++}`, sentAt: now(), body, ...some };
  };

  before(async () => {
    receiver = await startReceiver(command(), secret);
  });
  after(() => receiver[Symbol.asyncDispose]());

  for (const scheme of schemes) {
    const send = (signed: Signing, change: Record<string, string | undefined> = {}, sent = signed.body) =>
      post(receiver.url + PATHS[scheme], { ...signedHeaders(signed), ...change }, sent);

    test(`${scheme}: bodies of every type and format are taken, and worked on once answered`, async () => {
      assert.ok(new Set(bodies.map((each) => JSON.parse(each).type)).size === 7);
      for (const each of bodies) {
        const signed = signing({ body: each });
        assert.equal(await send(signed), 200, each);
        await receiver.untilWorkedOn(signed.id);
        assert.equal(receiver.worked.at(-1), `${signed.id} ${JSON.parse(each).type}`);
      }
    });

    test(`${scheme}: what is not signed, or wrongly, is refused`, async () => {
      const signed = signing();
      assert.equal(await send(signed, { [scheme]: undefined }), 401, 'no signature');
      for (const wrong of ['', 'v1,', 'v1', '0'.repeat(40), 'é', `v1,${'A'.repeat(43)}=`]) {
        assert.equal(await send(signed, { [scheme]: Buffer.from(wrong).toString('latin1') }), 401, wrong);
      }
      assert.equal(await send(signing({ secrets: [OTHER_SECRET] })), 401, 'another secret');
      assert.equal(await send(signed, {}, body.replace('"u1"', '"u2"')), 401, 'another body');
      assert.ok(!receiver.worked.some((line) => line.startsWith(`${signed.id} `)));
    });

    test(`${scheme}: the same delivery again is taken and not worked on again`, async () => {
      const [twice, next] = [signing(), signing()];
      for (const signed of [twice, twice, next]) assert.equal(await send(signed), 200);
      await receiver.untilWorkedOn(next.id);
      assert.equal(receiver.worked.filter((line) => line.startsWith(`${twice.id} `)).length, 1);
    });

    test(`${scheme}: the largest body is taken, a larger one is not`, async () => {
      const large = (bytes: number) => `{"type":"track","text":"${'x'.repeat(bytes - 26)}"}`;
      assert.equal(await send(signing({ body: large(MAX_BODY_BYTES) })), 200);
      // Some answer while the body is still coming and then close, which can overtake the answer.
      const answer = await send(signing({ body: large(2 * MAX_BODY_BYTES) })).catch(() => 'cut off');
      assert.ok(answer === 413 || answer === 'cut off', String(answer));
    });
  }

  if (!schemes.includes('webhook-signature')) return;
  const send = (signed: Signing, change = {}) =>
    post(`${receiver.url}/webhooks`, { ...signedHeaders(signed), ...change }, body);

  test('either signature is enough while a secret is replaced', async () => {
    for (const secrets of [
      [OTHER_SECRET, secret],
      [secret, OTHER_SECRET],
    ]) {
      assert.equal(await send(signing({ secrets })), 200);
    }
  });

  test('a request from long ago, or from the future, is refused, and so is one without a time', async () => {
    for (const seconds of [-290, 290]) assert.equal(await send(signing({ sentAt: now() + seconds })), 200);
    for (const seconds of [-310, 310]) assert.equal(await send(signing({ sentAt: now() + seconds })), 401);
    for (const time of [undefined, '', 'soon']) assert.equal(await send(signing(), { 'webhook-timestamp': time }), 401);
  });

  test('id and time are signed too', async () => {
    assert.equal(await send(signing(), { 'webhook-id': 'dlv_other' }), 401);
    assert.equal(await send(signing({ sentAt: now() - 310 }), { 'webhook-timestamp': String(now()) }), 401);
  });
}

/** As the contract's cases have them: the newest secret first. */
function signedHeaders({ secrets, id, sentAt, body }: Signing): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
    return `v1,${createHmac('sha256', key).update(`${id}.${sentAt}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(sentAt),
    'webhook-signature': signatures.join(' '),
    'X-Signature': createHmac('sha1', secrets[0] ?? '')
      .update(body)
      .digest('hex'),
  };
}

async function post(url: string, headers: Record<string, string | undefined>, body: string): Promise<number> {
  const present = Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined);
  const answer = await fetch(url, {
    method: 'POST',
    headers: [['User-Agent', 'Millrace/1.0'], ['Content-Type', 'application/json'], ...present],
    body,
  });
  await answer.arrayBuffer();
  return answer.status;
}

function readPage(): string {
  return readFileSync(join(ROOT_DIR, 'docs/use/receiving.md'), 'utf8');
}

function casesOf(file: string): Case[] {
  return JSON.parse(readFileSync(join(ROOT_DIR, 'contract/cases', file), 'utf8')).cases;
}
