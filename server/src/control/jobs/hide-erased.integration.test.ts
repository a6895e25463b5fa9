import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { AcceptedEvent } from '@millrace/contract';
import { addWorkspace, startTestControl, type TestControl } from '../../../testing/control.ts';
import { userHash } from '../../domain/withheld.ts';
import { insertErasedUsers } from '../../store/erased-users.ts';
import { readErased, readShown } from './hide-erased.ts';

let control: TestControl;
before(async () => void (control = await startTestControl()));
after(() => control[Symbol.asyncDispose]());

const LATER = '2026-02-01T00:00:00.000Z';
const event = (userId: string, change: object = {}) =>
  ({
    messageId: 'm',
    type: 'track',
    userId,
    event: 'E',
    context: {},
    receivedAt: '2026-01-01T00:00:00.000Z',
    ...change,
  }) as AcceptedEvent;

suite('events of erased and suppressed users', () => {
  test('are hidden, and of all erased users only those of the events are read', async () => {
    const workspaceId = await addWorkspace(control.store);
    const erase = (ids: string[], sourceId: string, suppressed = false) => {
      const userHashes = ids.map((id) => userHash(workspaceId, id));
      const erasure = { workspaceId, userHashes, sourceIds: [sourceId], erasedBefore: new Date(LATER), suppressed };
      return control.store.asSystem((tx) => insertErasedUsers(tx, erasure));
    };
    const many = Array.from({ length: 500 }, (_, at) => `other-${at}`);
    await erase(['erased', ...many], '');
    await erase(['silent'], 'src_1', true);
    const events = [
      event('erased'),
      event('erased', { receivedAt: LATER }),
      event('silent', { receivedAt: LATER }),
      event('new', { type: 'alias', previousId: 'erased' }),
      event('kept'),
    ];
    const users = await control.store.asSystem((tx) => readErased(tx, workspaceId, events));
    const hashes = ['erased', 'silent'].map((id) => userHash(workspaceId, id));
    assert.deepEqual([...users.keys()].toSorted(), hashes.toSorted());
    const shownIn = async (sourceId: string) => {
      const isShown = await control.store.asSystem((tx) => readShown(tx, { workspaceId, sourceId }, events));
      return events.map(isShown);
    };
    assert.deepEqual(await shownIn('src_1'), [false, true, false, false, true]);
    assert.deepEqual(await shownIn('src_2'), [false, true, true, false, true]);
  });
});
