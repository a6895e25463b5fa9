import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Explanation } from '@millrace/contract/control';
import { addToken, addWorkspace, startTestControl, type TestControl } from '../testing/control.ts';
import { attempted } from '../testing/outcomes.ts';
import { writeOutcomes } from '../src/record/write-outcomes.ts';
import { until } from '../testing/until.ts';

const stack = new AsyncDisposableStack();
const needs = { sample: 1, recordsFrom: '2000-01-01', knownPartitions: new Set<string>() };
let control: TestControl;
let token: string;
let workspaceId: string;

before(async () => {
  control = stack.use(await startTestControl());
  workspaceId = await addWorkspace(control.store);
  token = await addToken(control.store, workspaceId, { role: 'viewer' });
});
after(() => stack.disposeAsync());

test('explain tells of one moment, although the recorder writes between its questions', async () => {
  const first = { ...attempted(1, 'retry', 503), workspaceId };
  const second = { ...attempted(2, 'delivered', 200), workspaceId };
  await control.store.asSystem((tx) => writeOutcomes(tx, [first], needs));
  const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>();
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  const recording = control.store.asSystem(async (tx) => {
    // Deliveries can be read meanwhile, attempts cannot: the question stands between the two.
    await tx.query('LOCK TABLE attempts IN ACCESS EXCLUSIVE MODE');
    isLocked();
    await asked;
    await writeOutcomes(tx, [second], needs);
  });
  await locked;
  const answer = control.ask('GET', `/api/v1/events/${first.messageId}/explain`, { token });
  await untilOneWaits();
  isAsked();
  await recording;
  const [told] = ((await answer).body as Explanation).destinations;
  assert.deepEqual([told?.state, told?.attempts, told?.history.length], ['retrying', 1, 1]);
  const later = await control.ask('GET', `/api/v1/events/${first.messageId}/explain`, { token });
  const [toldLater] = (later.body as Explanation).destinations;
  assert.deepEqual([toldLater?.state, toldLater?.attempts, toldLater?.history.length], ['delivered', 2, 2]);
});

async function untilOneWaits(): Promise<void> {
  const waiting = () => control.store.asSystem((tx) => tx.query('SELECT pid FROM pg_locks WHERE NOT granted'));
  await until(async () => (await waiting()).length > 0);
}
