/** The whole way: client libraries call, the real server collects and delivers, receivers written by the book verify. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { receiverCommand } from './receiver-commands.ts';
import { type Receiver, startReceiver } from './receiver-process.ts';
import { type Exchange, type Recorder, recordRequests } from './recorder.ts';
import { driver, gotten, runClient } from './run-client.ts';
import { story } from './story.ts';
import { startWholeServer, type WholeServer } from './whole-server.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const TYPES = Object.keys(story).sort();

/** A destination with its receiver; the recorder between them sees what was really sent. */
type Hook = { destinationId: string; receiver: Receiver; recorder: Recorder };
type HookName = 'node' | 'go' | 'python' | 'stranger';

const opened = new AsyncDisposableStack();
const buildDir = mkdtempSync(join(tmpdir(), 'millrace-story-'));
opened.defer(() => rmSync(buildDir, { recursive: true }));
let server: WholeServer;
let sourceId: string;
let hooks: Record<HookName, Hook>;

before(async () => {
  server = opened.use(await startWholeServer());
  const source = await server.ask<{ id: string }>('POST', '/sources', { name: 'Web shop' });
  sourceId = source.id;
  hooks = {
    node: await attach(receiverCommand.node(), '/webhooks'),
    go: await attach(receiverCommand.go(buildDir), '/webhooks-sha1'),
    python: await attach(receiverCommand.python(), '/webhooks'),
    stranger: await attach(receiverCommand.node(), '/webhooks', { secret: 'whsec_bmV3LXNlY3JldA==' }),
  };
});
after(() => opened.disposeAsync());

suite("a story told with Segment's library for Node", () => {
  before(async () => {
    const writeKey = await server.newWriteKey(sourceId);
    await runClient(process.execPath, [driver('segment-node/send-calls.ts'), server.collectUrl, writeKey]);
  });

  for (const name of ['node', 'go', 'python'] as const) {
    test(`reaches the receiver in ${name}, each event once, verified and with its type`, async () => {
      const { receiver, recorder } = hooks[name];
      await recorder.until(({ length }) => length >= TYPES.length);
      const sent = recorder.exchanges;
      for (const exchange of sent) await receiver.untilWorkedOn(idOf(exchange));
      assert.deepEqual(
        sent.map(({ status, headers }) => [status, headers['user-agent'], headers['x-millrace-attempt']]),
        TYPES.map(() => [200, 'Millrace/1.0', '1']),
      );
      const expected = sent.map((exchange) => `${idOf(exchange)} ${bodyOf(exchange).type}`);
      assert.deepEqual(receiver.worked.toSorted(), expected.toSorted());
      assert.deepEqual(sent.map((exchange) => bodyOf(exchange).type).sort(), TYPES);
      assert.equal(new Set(sent.map(idOf)).size, TYPES.length);
    });
  }

  test('is told as the call told it', async () => {
    const { recorder } = hooks.node;
    await recorder.until(({ length }) => length >= TYPES.length);
    const { userId, event, properties } = story.track;
    const body = recorder.exchanges.map(bodyOf).find(({ type }) => type === 'track');
    assert.partialDeepStrictEqual(body, { version: 1, userId, event, properties });
  });

  test('is refused by a receiver with another secret, and not sent to it again', async () => {
    const { receiver, recorder } = hooks.stranger;
    await recorder.until(({ length }) => length >= TYPES.length);
    assert.deepEqual(
      recorder.exchanges.map(({ status }) => status),
      TYPES.map(() => 401),
    );
    assert.equal(new Set(recorder.exchanges.map(idOf)).size, TYPES.length);
    assert.deepEqual(receiver.worked, []);
  });
});

const OWN_CLIENTS: Record<string, { tell: string[]; receive: string[] }> = {
  '@millrace/node': {
    tell: [process.execPath, driver('millrace-node/send-calls.ts'), gotten('millrace-node')],
    receive: [process.execPath, driver('millrace-node/receive.ts'), gotten('millrace-node')],
  },
  "Millrace's Go library": {
    tell: [gotten('millrace-go/millrace-go')],
    receive: [gotten('millrace-go-receiver/millrace-go-receiver')],
  },
};

for (const [name, { tell, receive }] of Object.entries(OWN_CLIENTS)) {
  test(`a story told with ${name} is received and verified with its own helper`, async () => {
    const source = await server.ask<{ id: string }>('POST', '/sources', { name });
    const { receiver, recorder } = await attach(receive, '/webhooks', { to: source.id });
    const [program = '', ...args] = tell;
    await runClient(program, [...args, server.collectUrl, await server.newWriteKey(source.id)]);
    await recorder.until(({ length }) => length >= TYPES.length);
    for (const exchange of recorder.exchanges) await receiver.untilWorkedOn(idOf(exchange));
    assert.ok(recorder.exchanges.every(({ status }) => status === 200));
    const types = receiver.worked.map((line) => line.replace(/^\S+ /, ''));
    assert.deepEqual(types.toSorted(), TYPES);
  });
}

suite('a paused destination', () => {
  test('is sent nothing while others are, and everything once it is resumed', async () => {
    const { node: paused, python: other } = hooks;
    const before = { paused: paused.recorder.exchanges.length, other: other.recorder.exchanges.length };
    await server.ask('PATCH', `/destinations/${paused.destinationId}`, { paused: true });
    const writeKey = await server.newWriteKey(sourceId);
    const events = ['First', 'Second', 'Third'];
    for (const event of events) await server.track(writeKey, event);
    await other.recorder.until(({ length }) => length >= before.other + events.length);
    assert.equal(paused.recorder.exchanges.length, before.paused);

    const changed = { paused: false };
    assert.partialDeepStrictEqual(await server.ask('PATCH', `/destinations/${paused.destinationId}`, changed), changed);
    await paused.recorder.until(({ length }) => length >= before.paused + events.length);
    const late = paused.recorder.exchanges.slice(before.paused);
    assert.deepEqual(new Set(late.map((exchange) => bodyOf(exchange).event)), new Set(events));
    assert.ok(late.every(({ status }) => status === 200));
  });
});

test('in all of this nothing was sent twice to anybody', () => {
  for (const [name, { recorder }] of Object.entries(hooks)) {
    assert.equal(new Set(recorder.exchanges.map(idOf)).size, recorder.exchanges.length, name);
  }
});

type Attachment = {
  /** The secret by which the receiver checks signatures. */
  secret?: string;
  to?: string;
};

async function attach(
  command: string[],
  path: string,
  { secret = SECRET, to = sourceId }: Attachment = {},
): Promise<Hook> {
  const receiver = opened.use(await startReceiver(command, secret));
  const recorder = opened.use(await recordRequests(receiver.url));
  const settings = { targets: [{ url: recorder.url + path }], sharedSecret: SECRET };
  const body = { sourceId: to, catalog: 'Webhooks', enabled: true, settings };
  const { id } = await server.ask<{ id: string }>('POST', '/destinations', body);
  return { destinationId: id, receiver, recorder };
}

function idOf({ headers }: Exchange): string {
  return String(headers['webhook-id']);
}

function bodyOf({ body }: Exchange): { type: string; event?: string } {
  return JSON.parse(body);
}
