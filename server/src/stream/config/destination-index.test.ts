import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { indexDestinations } from './destination-index.ts';

function text(id: string, sourceId: string, name = id): string {
  const fields = { id, workspaceId: 'ws_1', sourceId, catalog: 'Webhooks', name, enabled: true, settings: {} };
  return JSON.stringify({ ...fields, updatedAt: '2030-01-01T00:00:00.000Z' });
}

suite('destinations kept as bytes', () => {
  test('are opened once, and again when they change', () => {
    const index = indexDestinations();
    index.set('dst_1', text('dst_1', 'src_1'));
    index.set('dst_2', text('dst_2', 'src_1'));
    const [first] = index.ofSource('src_1');
    assert.equal(index.byId('dst_1'), first);
    assert.equal(index.ofSource('src_1'), index.ofSource('src_1'));
    index.set('dst_1', text('dst_1', 'src_1', 'other'));
    assert.equal(index.byId('dst_1')?.name, 'other');
    assert.deepEqual(
      index
        .ofSource('src_1')
        .map(({ name }) => name)
        .sort(),
      ['dst_2', 'other'],
    );
  });

  test('follow every change of source and every end, also many more of them than stay open', () => {
    const index = indexDestinations();
    const many = 12_000;
    for (let nth = 0; nth < many; nth += 1) index.set(`dst_${nth}`, text(`dst_${nth}`, `src_${nth % 1_000}`));
    for (let nth = 0; nth < many; nth += 1) assert.equal(index.byId(`dst_${nth}`)?.id, `dst_${nth}`);
    for (let nth = 0; nth < many; nth += 3) index.set(`dst_${nth}`, text(`dst_${nth}`, 'src_all'));
    for (let nth = 1; nth < many; nth += 3) index.set(`dst_${nth}`, undefined);
    assert.equal(index.size(), (many * 2) / 3);
    assert.equal(index.ofSource('src_all').length, many / 3);
    assert.equal(index.byId('dst_1'), undefined);
    assert.deepEqual(index.former(`dst_${many - 2}`), { workspaceId: 'ws_1', sourceId: `src_${(many - 2) % 1_000}` });
    const left = Array.from({ length: 1_000 }, (_, nth) => index.ofSource(`src_${nth}`).length);
    assert.equal(
      left.reduce((sum, count) => sum + count, 0),
      many / 3,
    );
  });

  test('exist also when they cannot be read, for the source that they had', () => {
    const index = indexDestinations();
    index.set('dst_1', text('dst_1', 'src_1'));
    index.set('dst_1', '{"broken');
    assert.match(index.ofSource('src_1')[0]?.notUnderstood ?? '', /not JSON/);
    index.set('dst_2', JSON.stringify({ sourceId: 'src_1', name: 'in another order' }));
    assert.deepEqual(
      index.ofSource('src_1').map(({ id }) => id),
      ['dst_1', 'dst_2'],
    );
    index.set('dst_1', text('dst_1', 'src_1'));
    assert.equal(index.byId('dst_1')?.notUnderstood, undefined);
  });

  test('have the id of their key, whatever their text says', () => {
    const index = indexDestinations();
    index.set('dst_1', text('dst_1', 'src_1'));
    index.set('dst_forged', text('dst_1', 'src_1'));
    assert.deepEqual(
      index.ofSource('src_1').map(({ id }) => id),
      ['dst_1', 'dst_forged'],
    );
    assert.match(index.byId('dst_forged')?.notUnderstood ?? '', /another id/);
    index.set('dst_forged', undefined);
    assert.deepEqual(index.former('dst_forged'), { workspaceId: 'ws_1', sourceId: 'src_1' });
    assert.equal(index.former('dst_1'), undefined);
  });
});
