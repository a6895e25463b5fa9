import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { systemsToRun } from './bench-peers.ts';
import { convoyEnvironment } from './convoy.ts';

suite('the systems of the comparison', () => {
  test('have the same numbers of slots wherever they have a setting for it', () => {
    const slotsOf = (name: string) =>
      systemsToRun()
        .filter((system) => system.name === name)
        .map(({ slots }) => slots);
    for (const name of ['Outpost', 'Convoy']) assert.deepEqual(slotsOf(name), slotsOf('Millrace'), name);
    assert.deepEqual(slotsOf('Millrace'), [100, 1_000]);
    assert.deepEqual(slotsOf('Svix'), [undefined]);
  });

  test('are started with them: the consumer pool of Convoy', () => {
    const places = { databaseUrl: 'postgres://127.0.0.1:5432/convoy', redisPort: 1, port: 2, agentPort: 3 };
    assert.equal(convoyEnvironment({ ...places, slots: 1_000 })['CONVOY_CONSUMER_POOL_SIZE'], '1000');
  });
});
