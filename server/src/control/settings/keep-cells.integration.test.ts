import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openLog } from '../../log.ts';
import { cellNames, registerCells } from '../../store/cells.ts';
import { openStore } from '../../store/open-store.ts';
import { startMigratedPostgres } from '../../../testing/migrated-postgres.ts';
import { until } from '../../../testing/until.ts';
import { startKeepingCells } from './keep-cells.ts';

const log = openLog({ level: 'silent', pretty: false });
const MAIN = { name: 'main', url: '' };
const EU = { name: 'eu', url: '' };

suite('control processes with different cells in their settings', () => {
  test('keep what one of them names, and forget it when that one is gone', async () => {
    await using postgres = await startMigratedPostgres();
    await using store = await openStore(postgres.serviceUrl);
    await store.asSystem((tx) => registerCells(tx, [MAIN, EU]));
    const names = () => store.asSystem(cellNames);
    const patient = { lookMs: 20, unseenSeconds: 60 };
    const seenAt = () =>
      store.asSystem(async (tx) => {
        const [row] = await tx.query<{ ms: number }>(
          `SELECT (extract(epoch FROM seen_at) * 1000)::float AS ms FROM cells WHERE name = 'eu'`,
        );
        return row?.ms ?? 0;
      });
    const first = await seenAt();
    {
      await using both = new AsyncDisposableStack();
      for (const cells of [[MAIN, EU], [MAIN]]) both.use(startKeepingCells({ store, cells, log, times: patient }));
      await until(async () => (await seenAt()) > first);
      assert.deepEqual(await names(), ['main', 'eu']);
    }
    await using _ = startKeepingCells({ store, cells: [MAIN], log, times: { lookMs: 20, unseenSeconds: -1 } });
    await until(async () => (await names()).length === 1);
  });
});
