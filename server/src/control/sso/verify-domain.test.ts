import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openNameServer } from '../../../testing/name-server.ts';
import { openTxtReader } from '../../http/read-txt.ts';
import { recordOf } from './verify-domain.ts';

suite('the record of a domain', () => {
  test('is read from the name servers; without one, nothing is proven', async () => {
    const { name, value } = recordOf('shop.example', 'ws_1');
    await using server = await openNameServer({
      [name]: () => ['txt:something else', `txt:${value}`],
      '_millrace.down.example': () => ['failure'],
    });
    const read = openTxtReader([server.address]);
    assert.deepEqual(await read(name), ['something else', value]);
    assert.deepEqual(await read('_millrace.none.example'), []);
    assert.deepEqual(await read('_millrace.down.example'), []);
  });
});
