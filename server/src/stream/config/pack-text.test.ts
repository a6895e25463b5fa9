import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { packText, unpackText } from './pack-text.ts';

const ID = '01a1ea1931e87e8f9d5307da5317e8a3';
const SEALED = 'AQABRP7qbxgTmOlqmVAkybndc77sFOqeippD7ZXjVrobuy2puwfa6zrKY8Zp3aeYaAk2m4tXtb';
const ENTRY = JSON.stringify({
  id: `dst_${ID}`,
  workspaceId: `ws_${ID}`,
  sourceId: `src_${ID}`,
  catalog: 'Webhooks',
  name: 'Orders ü',
  enabled: true,
  settings: {
    targets: [{ url: 'https://a.example/hook', headers: { Authorization: { sealed: SEALED } } }],
    sharedSecret: { sealed: SEALED },
  },
  updatedAt: '2026-11-17T15:21:22.153Z',
  v: 1,
});

suite('a packed text', () => {
  test('is a third shorter for an entry as control writes it', () => {
    assert.ok(packText(ENTRY).length < ENTRY.length * 0.67, `${packText(ENTRY).length} of ${ENTRY.length}`);
  });

  test('comes out as it came in, whatever it is', () => {
    const odd = [
      '',
      '{"broken',
      '\u0001\u0002',
      '\u001f',
      'a\n\tb',
      ENTRY.slice(40),
      `${ENTRY}\u0005`,
      `${ENTRY}\u001f`,
    ];
    for (const text of [ENTRY, ...odd, ENTRY.repeat(3)]) assert.equal(unpackText(packText(text)), text);
  });
});
