import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { FilterRule } from '@millrace/contract';
import { destinationsToProject } from '../../store/projection.ts';
import type { DestinationConfig } from '../../domain/configuration.ts';
import { destinationEntry } from '../../projection/config-entries.ts';
import { addToken, addWorkspace, startTestControl, type TestControl } from '../../../testing/control.ts';

const SETTINGS = { targets: [{ url: 'https://example.com/hook' }] };
const PRO: FilterRule = { field: 'properties.plan', op: 'equals', value: 'pro' };

let control: TestControl;
let token: string;
let sourceId: string;
before(async () => {
  control = await startTestControl();
  token = await addToken(control.store, await addWorkspace(control.store), { role: 'owner' });
  const source = await control.ask('POST', '/api/v1/sources', { token, body: { name: 'S' } });
  sourceId = String(source.body['id']);
});
after(() => control[Symbol.asyncDispose]());

const create = (filters?: unknown) => {
  const body = { sourceId, catalog: 'Webhooks', settings: SETTINGS, ...(filters === undefined ? {} : { filters }) };
  return control.ask('POST', '/api/v1/destinations', { token, body });
};
const change = (id: unknown, body: object) =>
  control.ask('PATCH', `/api/v1/destinations/${String(id)}`, { token, body });

async function projected(id: unknown): Promise<DestinationConfig> {
  const [row] = await control.store.asSystem((tx) => destinationsToProject(tx, [String(id)]));
  assert.ok(row);
  return JSON.parse(destinationEntry(row).value) as DestinationConfig;
}

suite('the filters of a destination', () => {
  test('are kept, shown, told to deliver, replaced as a whole and taken away', async () => {
    const { status, body } = await create([PRO]);
    assert.deepEqual([status, body['filters']], [201, [PRO]]);
    assert.deepEqual((await projected(body['id'])).filters, [PRO]);
    assert.deepEqual((await change(body['id'], { enabled: true })).body['filters'], [PRO]);
    const other = { field: 'type', op: 'one_of', values: ['track', 'page'] };
    assert.deepEqual((await change(body['id'], { filters: [other] })).body['filters'], [other]);
    assert.deepEqual((await change(body['id'], { filters: [] })).body['filters'], []);
    assert.ok(!('filters' in (await projected(body['id']))));
    assert.deepEqual((await create()).body['filters'], []);
  });

  test('are refused with a word on what is wrong and where', async () => {
    const refused = await create([
      PRO,
      { field: 'password', op: 'equals', value: 'x' },
      { field: 'event', op: 'matches', value: '.*' },
    ]);
    assert.equal(refused.status, 400);
    assert.match(refused.text, /"\/filters\/2\/op","message":"must be one of: equals, /);
    const { body, status } = await create([PRO, { field: 'password', op: 'one_of', value: 'x' }]);
    assert.equal(status, 400);
    const errors = body['errors'] as { path: string }[];
    assert.deepEqual(
      errors.map(({ path }) => path),
      ['/filters/1/field', '/filters/1/values', '/filters/1/value'],
    );
  });

  test('are bounded', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => `v${n}`);
    assert.equal((await create(Array.from({ length: 20 }, () => PRO))).status, 201);
    assert.equal((await create(Array.from({ length: 21 }, () => PRO))).status, 400);
    assert.equal((await create([{ field: 'event', op: 'one_of', values: many(100) }])).status, 201);
    assert.equal((await create([{ field: 'event', op: 'one_of', values: many(101) }])).status, 400);
    assert.equal((await create([{ field: 'event', op: 'one_of', values: [] }])).status, 400);
    assert.equal((await create([{ ...PRO, value: 'x'.repeat(1_001) }])).status, 400);
    assert.equal((await create([{ ...PRO, value: { $ne: 1 } }])).status, 400);
    assert.equal((await create([{ ...PRO, more: 1 }])).status, 400);
  });

  test('are in the audit log without anybody’s id', async () => {
    const { body } = await create([PRO, { field: 'userId', op: 'not_one_of', values: ['ann', 'bob'] }]);
    await change(body['id'], { filters: [{ field: 'userId', op: 'equals', value: 'ann' }] });
    const { items } = (await control.ask('GET', '/api/v1/audit-log', { token })).body as {
      items: { objectId: string; details: { filters?: string[] } }[];
    };
    const logged = items.filter(({ objectId }) => objectId === body['id']).map(({ details }) => details.filters);
    assert.deepEqual(logged, [
      ['userId equals a given id'],
      ['properties.plan equals "pro"', 'userId not one of 2 given ids'],
    ]);
  });
});
