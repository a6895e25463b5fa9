import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { addToken, addWorkspace, startTestControl, type TestControl } from '../../testing/control.ts';

let control: TestControl;
before(async () => void (control = await startTestControl()));
after(() => control[Symbol.asyncDispose]());

const SETTINGS = { targets: [{ url: 'https://example.com/hook' }], sharedSecret: 'a shared secret' };

suite('attempts now', () => {
  test('that are refused as too soon do not count for the other destinations of the workspace', async () => {
    const token = await addToken(control.store, await addWorkspace(control.store), { role: 'owner' });
    const make = async (path: string, body: object) => {
      const answer = await control.ask('POST', `/api/v1${path}`, { token, body });
      assert.equal(answer.status, 201, answer.text);
      return String(answer.body['id']);
    };
    const sourceId = await make('/sources', { name: 'S' });
    const add = () => make('/destinations', { sourceId, catalog: 'Webhooks', enabled: true, settings: SETTINGS });
    const [hammered, other] = [await add(), await add()];
    const probe = (id: string) => control.ask('POST', `/api/v1/destinations/${id}/probe`, { token });
    const statuses = new Set<number>();
    for (let times = 0; times < 70; times += 1) statuses.add((await probe(hammered)).status);
    assert.deepEqual(statuses, new Set([409, 429]));
    assert.equal((await probe(other)).body['code'], 'not_waiting', 'nothing waits there, and it was asked once');
  });
});
