import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openLog } from '../log.ts';
import type { ConfigView } from '../stream/config/config-bucket.ts';
import { followConfig } from './follow-config.ts';
import { until } from '../../testing/until.ts';

const log = openLog({ level: 'silent', pretty: false });
const TIMES = { lookMs: 1, awayMs: 5, backMs: 20, openMs: 50 };

/** A view that knows one source, by the name of its cell. */
function viewOf(cell: string, closed: string[]): ConfigView {
  const view: Pick<ConfigView, 'sourceByKeyHash' | 'hasMarks' | 'userMark'> & AsyncDisposable = {
    sourceByKeyHash: () => ({ id: cell, workspaceId: 'ws_1', name: cell, enabled: true, writeKeyHashes: [] }),
    hasMarks: () => false,
    userMark: () => undefined,
    [Symbol.asyncDispose]: async () => void closed.push(cell),
  };
  return view as ConfigView;
}

suite('the configuration of collect', () => {
  test('comes from another cell while its own is away, and from its own again when that is back', async () => {
    const up = { home: true, eu: true };
    const closed: string[] = [];
    const eu = { name: 'eu', isConnected: () => up.eu, openView: async () => viewOf('eu', closed) };
    const home = { name: 'main', isConnected: () => up.home, view: viewOf('main', closed) };
    {
      await using followed = followConfig({ home, others: [eu], log, times: TIMES });
      const source = () => followed.config.sourceByKeyHash('k')?.id;
      assert.equal(source(), 'main');
      up.home = false;
      await until(() => source() === 'eu');
      up.home = true;
      await until(() => source() === 'main');
      assert.equal(followed.cell(), 'main');
      await until(() => closed.includes('eu'));
      up.home = false;
      await until(() => source() === 'eu');
    }
    assert.deepEqual(closed, ['eu', 'eu'], 'the view of the home belongs to the process');
  });

  test('stays what it is while no cell can be reached, and when a view does not open', async () => {
    const up = { home: false, eu: false };
    let tries = 0;
    const openView = () => {
      tries += 1;
      return tries === 1 ? Promise.reject(new Error('no leader')) : Promise.resolve(viewOf('eu', []));
    };
    const home = { name: 'main', isConnected: () => up.home, view: viewOf('main', []) };
    const others = [{ name: 'eu', isConnected: () => up.eu, openView }];
    await using followed = followConfig({ home, others, log, times: TIMES });
    assert.equal(followed.config.sourceByKeyHash('k')?.id, 'main');
    up.eu = true;
    await until(() => followed.config.sourceByKeyHash('k')?.id === 'eu');
    assert.equal(tries, 2);
  });

  test('goes back to its own, and ends, while the view of a third cell does not open', async () => {
    const up = { home: false, eu: true, us: false };
    const closed: string[] = [];
    const opening = Promise.withResolvers<ConfigView>();
    let isAsked = false;
    const home = { name: 'main', isConnected: () => up.home, view: viewOf('main', closed) };
    const eu = { name: 'eu', isConnected: () => up.eu, openView: async () => viewOf('eu', closed) };
    const us = { name: 'us', isConnected: () => up.us, openView: () => ((isAsked = true), opening.promise) };
    {
      await using followed = followConfig({ home, others: [eu, us], log, times: TIMES });
      const source = () => followed.config.sourceByKeyHash('k')?.id;
      await until(() => source() === 'eu');
      up.eu = false;
      up.us = true;
      await until(() => isAsked);
      up.home = true;
      await until(() => source() === 'main');
    }
    opening.resolve(viewOf('us', closed));
    await until(() => closed.includes('us'));
  });

  test('does not refuse a key that only its own cell knew: the bucket of the other one may be behind', async () => {
    const up = { home: true };
    const empty = { ...viewOf('eu', []), sourceByKeyHash: () => undefined };
    const home = { name: 'main', isConnected: () => up.home, view: viewOf('main', []) };
    const others = [{ name: 'eu', isConnected: () => true, openView: async () => empty }];
    await using followed = followConfig({ home, others, log, times: TIMES });
    up.home = false;
    await until(() => followed.cell() === 'eu');
    const source = followed.config.sourceByKeyHash('k');
    assert.deepEqual([source?.id, source?.cell], ['main', '?']);
  });

  test('comes from a third cell if the second one cannot be read, and that does not keep the process from its end', async () => {
    const home = { name: 'main', isConnected: () => false, view: viewOf('main', []) };
    const eu = { name: 'eu', isConnected: () => true, openView: () => new Promise<ConfigView>(() => undefined) };
    const us = { name: 'us', isConnected: () => true, openView: async () => viewOf('us', []) };
    {
      await using followed = followConfig({ home, others: [eu, us], log, times: TIMES });
      await until(() => followed.cell() === 'us');
    }
    let isAsked = false;
    const openView = () => {
      isAsked = true;
      return eu.openView();
    };
    const others = [{ ...eu, openView }];
    const stuck = followConfig({ home, others, log, times: { ...TIMES, openMs: 3_600_000 } });
    await until(() => isAsked);
    await stuck[Symbol.asyncDispose]();
  });
});
