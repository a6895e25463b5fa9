/** Every list and every look × everything odd that a query or a path may hold: a refusal with a sentence, and never a 500. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { ROUTES } from './all-routes.ts';
import { addToken, addWorkspace, startTestControl, type TestControl } from '../../testing/control.ts';
import { attempted } from '../../testing/outcomes.ts';
import { writeOutcomes } from '../record/write-outcomes.ts';

const TIMES = [
  '0000-01-01T00:00:00Z',
  '0000-01-01T00:00:00+23:59',
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59-23:59',
  '9999-12-31T23:59:60Z',
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-11-16T24:00:00Z',
  '2026-11-16T00:00:00+99:99',
  '2026-11-16t00:00:00z',
  '2026-11-16T00:00:00.123456789012345Z',
  '+275760-09-13T00:00:00Z',
  '-271821-04-20T00:00:00Z',
  '-000001-01-01T00:00:00Z',
];
const TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  'ä😀',
  "'; SELECT 1 --",
  '{}',
  'null',
  '__proto__',
  'x'.repeat(399),
  '9'.repeat(30),
  '99999999999999999999',
  '999999999999999',
  '-1',
  '0',
  '1e309',
  'NaN',
  'Infinity',
  '0000-01',
  '0001-01',
  '9999-12',
];
/** As they stand in a URL: broken escapes, and bytes that are no text. */
const RAW = ['%', '%zz', '%00', '%ED%A0%80', '%FF%FE', '%C0%80', '%2500', '%252e%252e%252f'];
const PLACES = TIMES.flatMap((time) => [`${time} dlv_1`, `${time.slice(0, 24).padEnd(24, 'Z')} dlv_1`]);
const CURSORS = [
  ...TEXTS,
  ...TIMES,
  ...PLACES,
  'dst_1 999999999999999',
  'dst_\u0000 1',
  '2026-11-16T00:00:00.000Z dlv_\u0000',
]
  .map((text) => Buffer.from(text).toString('base64url'))
  .concat(Buffer.from([0xff, 0xfe, 0x00]).toString('base64url'));

const stack = new AsyncDisposableStack();
let control: TestControl;
let token: string;
let sourceId: string;

before(async () => {
  control = stack.use(await startTestControl());
  const workspaceId = await addWorkspace(control.store);
  token = await addToken(control.store, workspaceId, { role: 'owner' });
  const source = await control.ask('POST', '/api/v1/sources', { token, body: { name: 'One' } });
  sourceId = (source.body as { id: string }).id;
  const entry = { ...attempted(1, 'delivered', 200), workspaceId };
  const needs = { sample: 1, rows: 1, recordsFrom: '2000-01-01', knownPartitions: new Set<string>() };
  await control.store.asSystem((tx) => writeOutcomes(tx, [entry], needs));
});
after(() => stack.disposeAsync());

async function assertAnswered(path: string): Promise<void> {
  const { status, body } = await control.ask('GET', path, { token });
  assert.ok(status === 200 || (status >= 400 && status < 500), `${path}: ${status}`);
  if (status >= 400) assert.ok((body as { detail: string }).detail.length > 10, `${path}: ${JSON.stringify(body)}`);
}

suite('odd questions are refused with a sentence, or answered', () => {
  for (const { method, url, query } of ROUTES) {
    if (method !== 'GET') continue;
    const place = () => url.replace(':id', sourceId).replace(/:\w+/g, 'x');
    for (const name of Object.keys(query?.properties ?? {})) {
      test(`GET ${url} by ${name}`, async () => {
        const values = name === 'cursor' ? CURSORS : [...TEXTS, ...TIMES];
        const encoded = [...values.map(encodeURIComponent), ...RAW];
        for (const value of encoded) await assertAnswered(`${place()}?${name}=${value}`);
        await assertAnswered(`${place()}?${name}=1&${name}=2`);
        await assertAnswered(`${place()}?${name}[a]=1`);
      });
    }
    if (!url.includes(':')) continue;
    test(`GET ${url} by its path`, async () => {
      const encoded = [...TEXTS.filter((text) => text !== '').map(encodeURIComponent), ...RAW];
      for (const value of encoded) await assertAnswered(url.replace(/:\w+/g, value));
    });
  }

  test('times that PostgreSQL cannot hold are named as what is wrong', async () => {
    for (const time of ['9999-12-31T23:59:59-23:59', '0000-01-01T00:00:00Z']) {
      const path = `/api/v1/deliveries?from=${encodeURIComponent(time)}`;
      const { status, body } = await control.ask('GET', path, { token });
      assert.equal(status, 400, time);
      assert.match(JSON.stringify(body), /"path":"\/from"/);
    }
    const { status, body } = await control.ask('GET', '/api/v1/usage?month=0000-01', { token });
    assert.equal(status, 400);
    assert.match(JSON.stringify(body), /"path":"\/month"/);
  });
});
