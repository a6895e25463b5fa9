import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyHeader } from '../../parts/destination/targets/targets.ts';
import { freshDraft, hasText, keptDraft, keptText, readKept } from './wizard-draft.ts';

test('what was typed comes back, without the values of headers', () => {
  const draft = freshDraft('src_1');
  const target = {
    ...draft.targets[0],
    key: 1,
    savedUrl: undefined,
    url: 'https://a.example',
    headers: [{ ...emptyHeader(), name: 'Authorization', value: 'Bearer secret' }],
  };
  const text = keptText({ ...draft, name: 'Orders', targets: [target] });
  assert.ok(!text.includes('Bearer'));
  const kept = readKept(text);
  assert.equal(kept?.name, 'Orders');
  assert.deepEqual(
    kept?.targets.map(({ url, headers }) => [url, headers[0]?.name, headers[0]?.value]),
    [['https://a.example', 'Authorization', '']],
  );
});

test('the source of a link wins over the one of the kept draft', () => {
  const kept = { ...freshDraft('src_1'), name: 'Orders' };
  assert.equal(keptDraft(kept, 'src_2').sourceId, 'src_2');
  assert.equal(keptDraft(kept, 'src_2').name, 'Orders');
  assert.equal(keptDraft(kept, undefined).sourceId, 'src_1');
});

test('a text of another version is forgotten', () => {
  assert.equal(readKept('{"name":1}'), undefined);
  assert.equal(readKept('nonsense'), undefined);
  assert.equal(readKept(null), undefined);
});

test('a draft without a typed text is not worth keeping', () => {
  assert.equal(hasText(freshDraft('src_1')), false);
  assert.equal(hasText({ ...freshDraft(''), name: 'x' }), true);
});
