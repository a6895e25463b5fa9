import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { AskAnswer, Question } from '../../../domain/ask.ts';
import type { Asks } from '../../../stream/signals/asks.ts';
import { addToken, addWorkspace, startTestControl, type TestControl } from '../../../../testing/control.ts';
import { until } from '../../../../testing/until.ts';
import { serveControl } from '../../serve-control.ts';

const SETTINGS = { targets: [{ url: 'https://example.com/hook' }] };

let control: TestControl;
let token: string;
let viewer: string;
let path: string;

before(async () => {
  control = await startTestControl();
  const workspaceId = await addWorkspace(control.store);
  token = await addToken(control.store, workspaceId, { role: 'owner' });
  viewer = await addToken(control.store, workspaceId, { role: 'viewer' });
  const source = await control.ask('POST', '/api/v1/sources', { token, body: { name: 'S' } });
  const body = { sourceId: source.body['id'], catalog: 'Webhooks', settings: SETTINGS };
  const destination = await control.ask('POST', '/api/v1/destinations', { token, body });
  path = `/api/v1/destinations/${String(destination.body['id'])}/check-up`;
});
after(() => control[Symbol.asyncDispose]());

suite('a check-up without a deliver process', () => {
  test('ends as failed with the reason, and says nothing about the receiver', async () => {
    const started = await control.ask('POST', path, { token, body: {} });
    assert.equal(started.status, 201, started.text);
    await until(async () => (await control.ask('GET', path, { token })).body['state'] !== 'running', 60_000);
    const { body } = await control.ask('GET', path, { token });
    assert.deepEqual([body['state'], body['grade'], body['facts']], ['failed', null, null]);
    assert.match(String(body['sentence']), /^No deliver process answered\. .*start one/);
    const steps = body['steps'] as { grade: unknown }[];
    assert.ok(steps.length === 6 && steps.every(({ grade }) => grade === null));
  });

  test('can be read by a viewer, who may not start one', async () => {
    assert.equal((await control.ask('POST', path, { token: viewer, body: {} })).status, 403);
    assert.equal((await control.ask('GET', path, { token: viewer })).status, 200);
  });

  test('is refused for fields that it does not know', async () => {
    for (const body of [{ targetIndex: -1 }, { targetIndex: 5 }, { targetIndex: 'x' }, { url: 'https://x.example' }]) {
      const refused = await control.ask('POST', path, { token, body });
      assert.deepEqual([refused.status, refused.body['code']], [400, 'invalid_request']);
    }
  });
});

suite('check-ups one after the other', () => {
  test('are no way to try more URLs in a minute than checks of URLs are', async () => {
    const workspaceId = await addWorkspace(control.store);
    const own = await addToken(control.store, workspaceId, { role: 'owner' });
    const source = await control.ask('POST', '/api/v1/sources', { token: own, body: { name: 'S' } });
    const body = { sourceId: source.body['id'], catalog: 'Webhooks', settings: SETTINGS };
    const { body: made } = await control.ask('POST', '/api/v1/destinations', { token: own, body });
    const ownPath = `/api/v1/destinations/${String(made['id'])}/check-up`;
    let started = 0;
    let last = await control.ask('POST', ownPath, { token: own, body: {} });
    while (last.status === 201 && started < 70) {
      started += 1;
      await until(async () => (await control.ask('GET', ownPath, { token: own })).body['state'] !== 'running', 60_000);
      last = await control.ask('POST', ownPath, { token: own, body: {} });
    }
    assert.deepEqual([started, last.status, last.body['code']], [60, 429, 'too_many_tries']);
    // The report of the last one is still there.
    assert.equal((await control.ask('GET', ownPath, { token: own })).body['state'], 'failed');
  });
});

suite('a check-up of an https receiver', () => {
  test('shows TLS version and certificate, and its questions name the destination in place of its URL', async () => {
    const questions: Question[] = [];
    const asks: Asks = {
      async ask(question) {
        questions.push(question);
        return { kind: 'answered', answer: answerTo(question) };
      },
    };
    const listening = { host: '127.0.0.1', port: 0, maxConnections: 100, trustedProxies: [] };
    await using server = await serveControl(listening, { ...control.needs, asks });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const url = `http://127.0.0.1:${server.port}${path}`;
    assert.equal((await fetch(url, { method: 'POST', headers, body: '{}' })).status, 201);
    await until(async () => (await control.ask('GET', path, { token })).body['state'] !== 'running', 60_000);
    const { body } = await control.ask('GET', path, { token });
    assert.deepEqual(body['facts'], {
      fastestMs: 12,
      slowestMs: 12,
      keepsConnections: null,
      tlsVersion: 'TLSv1.3',
      certificateEndsAt: '2027-01-01T00:00:00.000Z',
      sentence: 'The URL can be used.',
    });
    assert.deepEqual(
      questions.map(({ kind }) => kind),
      ['check_up', 'check_up', 'check_up', 'check_url'],
    );
    for (const question of questions.slice(0, 3)) assert.doesNotMatch(JSON.stringify(question), /example\.com/);
  });
});

/** As deliver would answer for a good receiver. */
function answerTo({ kind }: Question): AskAnswer {
  if (kind === 'check_up') {
    const seen = { sentence: 'The receiver answered 200.', bytes: 200, isReused: false, isClosing: false };
    return { kind: 'check_up_sent', answer: { status: 200, errorClass: null, ms: 12, ...seen } };
  }
  const times = { validFrom: '2026-01-01T00:00:00.000Z', validTo: '2027-01-01T00:00:00.000Z', daysLeft: 46 };
  const certificate = { subject: '', issuer: '', names: '', ...times };
  const step = { step: 'tls', ok: true, detail: '', tlsVersion: 'TLSv1.3', certificate } as const;
  return { kind: 'url_checked', check: { ok: true, steps: [step], sentence: 'The URL can be used.' } };
}
