import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import { arriveSources, moveSource } from './arrivals.ts';
import { cellNames, cellOfDestination, forgetCells, registerCells } from './cells.ts';
import { insertDestination } from './destinations.ts';
import { openStore, type Tx } from './open-store.ts';
import {
  addRepairsToOutbox,
  addToOutbox,
  deleteFromOutbox,
  hasRepairsWaiting,
  takeDestinationsOf,
  takeFromOutbox,
} from './outbox.ts';
import { clearFailures, projectionLag, retryFailures, setAside, unprojected } from './projection-failures.ts';
import { destinationsToProject, sourcesToProject } from './projection.ts';
import { insertComputedSource, insertSource, findSource } from './sources.ts';
import { insertWorkspace } from './workspaces.ts';

const MAIN = { name: 'main', url: '' };
const EU = { name: 'eu', url: '', spare: 'us' };
const US = { name: 'us', url: '' };
const WORKSPACE = 'ws_1';
const DESTINATION = {
  workspace_id: WORKSPACE,
  id: 'dst_1',
  catalog: 'Webhooks',
  name: '',
  enabled: true,
  settings: {},
};

suite('the cells in PostgreSQL', () => {
  test('follow the settings, and none with sources can go', async () => {
    await using scene = await openScene();
    assert.deepEqual(await scene.system((tx) => registerCells(tx, [MAIN, EU, US])), []);
    assert.deepEqual(await scene.system(cellNames), ['main', 'eu', 'us']);
    await scene.system((tx) => insertSource(tx, { workspaceId: WORKSPACE, id: 'src_1', name: 'In eu', cell: 'eu' }));
    assert.deepEqual(await scene.system((tx) => registerCells(tx, [MAIN])), [{ name: 'eu', sources: 1 }]);
    assert.deepEqual(await scene.system(cellNames), ['main', 'eu', 'us'], 'nothing was changed');
    // The former spare may have requests: it is one of the source's cells for good, also if a start of control did not name it.
    assert.deepEqual(await scene.system((tx) => registerCells(tx, [MAIN, { name: 'eu', url: '' }, US])), []);
    assert.deepEqual(await scene.cellsOf('src_1'), { cell: 'eu', spare: null, former: ['us'] });
    assert.deepEqual(await scene.system((tx) => registerCells(tx, [MAIN, { name: 'eu', url: '' }])), []);
    assert.deepEqual(await scene.cellsOf('src_1'), { cell: 'eu', spare: null, former: ['us'] });
  });

  test('are forgotten when no control process names them any more, and not because one of them does not', async () => {
    await using scene = await openScene();
    await scene.system((tx) => registerCells(tx, [MAIN, EU, US]));
    await scene.system((tx) => insertSource(tx, { workspaceId: WORKSPACE, id: 'src_1', name: 'In eu', cell: 'eu' }));
    const change = { kind: 'source', workspaceId: WORKSPACE, objectId: 'src_1' } as const;
    await scene.system((tx) => addToOutbox(tx, change));
    const forget = (unseenSeconds: number) => scene.system((tx) => forgetCells(tx, ['main', 'eu'], unseenSeconds));
    assert.deepEqual(await forget(60), [], 'another process named it just now');
    assert.deepEqual(await forget(-1), ['us']);
    assert.deepEqual(await scene.system(cellNames), ['main', 'eu']);
    assert.deepEqual([await scene.drain('us'), await scene.drain('eu')], [[], ['src_1']]);
    const onlyMain = () => scene.system((tx) => forgetCells(tx, ['main'], -1));
    assert.deepEqual(await onlyMain(), [], 'a source is in it');
    await scene.move('src_1', 'main');
    assert.deepEqual(await onlyMain(), ['eu']);
    assert.deepEqual(await scene.cellsOf('src_1'), { cell: 'main', spare: null, former: ['eu', 'us'] });
  });

  test('tell the bucket of a new spare of the destinations, and then of the sources', async () => {
    await using scene = await openScene();
    await scene.system(async (tx) => {
      await insertSource(tx, { workspaceId: WORKSPACE, id: 'src_1', name: 'In main' });
      await insertDestination(tx, { ...DESTINATION, source_id: 'src_1' });
    });
    await scene.system((tx) => registerCells(tx, [{ ...MAIN, spare: 'us' }, US]));
    const taken = await scene.system((tx) => takeFromOutbox(tx, 10, 'us'));
    assert.deepEqual(
      taken.map(({ object_id: id }) => id),
      ['dst_1', 'src_1'],
    );
    assert.deepEqual(await scene.system((tx) => takeDestinationsOf(tx, ['src_1'], 'us')), taken.slice(0, 1));
  });

  test('give a moved source its former ones, with their spares', async () => {
    await using scene = await openScene();
    await scene.system((tx) => registerCells(tx, [MAIN, EU, US]));
    await scene.system((tx) => insertSource(tx, { workspaceId: WORKSPACE, id: 'src_1', name: 'Moves' }));
    assert.equal(await scene.arrive('main'), 1);
    assert.deepEqual(await scene.cellsOf('src_1'), { cell: 'main', spare: null, former: [] });
    await scene.move('src_1', 'eu');
    assert.deepEqual(await scene.cellsOf('src_1'), { cell: 'main', spare: null, former: [] }, 'it is on its way');
    assert.equal(await scene.arrive('main'), 0, 'not there');
    assert.equal(await scene.arrive('eu'), 1);
    assert.deepEqual(await scene.cellsOf('src_1'), { cell: 'eu', spare: 'us', former: ['main'] });
    await scene.move('src_1', 'main');
    assert.equal(await scene.arrive('main'), 1);
    assert.deepEqual(await scene.cellsOf('src_1'), { cell: 'main', spare: null, former: ['eu', 'us'] });
    await scene.move('src_1', 'us');
    assert.equal(await scene.arrive('us'), 1);
    assert.deepEqual(await scene.cellsOf('src_1'), { cell: 'us', spare: null, former: ['eu', 'main'] });
  });

  test('each get a change, and only their own repairs; a destination is where its source may have requests', async () => {
    await using scene = await openScene();
    await scene.system((tx) => registerCells(tx, [MAIN, EU, US]));
    await scene.system(async (tx) => {
      await insertSource(tx, { workspaceId: WORKSPACE, id: 'src_1', name: 'In eu', cell: 'eu' });
      await insertDestination(tx, { ...DESTINATION, source_id: 'src_1' });
      await addToOutbox(tx, { kind: 'destination', workspaceId: WORKSPACE, objectId: 'dst_1' });
      await addRepairsToOutbox(tx, [{ kind: 'source', workspaceId: WORKSPACE, objectId: 'src_1' }], 'us');
    });
    const taken = async (cell: string) =>
      (await scene.system((tx) => takeFromOutbox(tx, 10, cell))).map(({ object_id: id }) => id);
    assert.deepEqual(
      [await taken('main'), await taken('eu'), await taken('us')],
      [['dst_1'], ['dst_1'], ['dst_1', 'src_1']],
    );
    assert.equal(await scene.system((tx) => hasRepairsWaiting(tx, 'us')), true);
    assert.equal(await scene.system((tx) => hasRepairsWaiting(tx)), false);
    const isHere = async (cell: string) =>
      (await scene.system((tx) => destinationsToProject(tx, ['dst_1'], cell)))[0]?.is_here;
    assert.deepEqual([await isHere('main'), await isHere('eu'), await isHere('us')], [false, true, true]);
    assert.equal(await scene.system((tx) => cellOfDestination(tx, 'dst_1')), 'eu');
    // Calls that Millrace computes start in main, and may be for any destination.
    await scene.system((tx) => insertComputedSource(tx, WORKSPACE, 'src_2'));
    assert.equal(await isHere('main'), true);
  });

  test('each refuse an entry for themselves: what one takes again, the other still lacks', async () => {
    await using scene = await openScene();
    await scene.system((tx) => registerCells(tx, [MAIN, US]));
    const refused = { kind: 'destination', workspaceId: WORKSPACE, objectId: 'dst_1', why: 'full' } as const;
    const setAsideIn = (cell: string) => scene.system((tx) => setAside(tx, [refused], cell));
    assert.deepEqual(await setAsideIn('us'), new Set(['dst_1']));
    assert.deepEqual(await setAsideIn('main'), new Set(['dst_1']));
    assert.deepEqual(await setAsideIn('main'), new Set(), 'it was refused before');
    assert.deepEqual(await scene.system((tx) => clearFailures(tx, ['dst_1'], 'main')), ['dst_1']);
    const left = await scene.system((tx) => unprojected(tx, WORKSPACE, ['dst_1']));
    assert.deepEqual(
      left.map(({ why }) => why),
      ['in the cell us: full'],
    );
    await scene.system((tx) => retryFailures(tx, { afterSeconds: -1, limit: 10 }));
    const lag = await scene.system(projectionLag);
    assert.deepEqual(
      lag.map(({ cell, failures, oldestSeconds }) => [cell, failures, oldestSeconds]),
      [
        ['main', 0, 0],
        ['us', 1, 0],
      ],
    );
    assert.equal((await scene.system((tx) => takeFromOutbox(tx, 10, 'us'))).length, 1);
    assert.equal((await scene.system((tx) => takeFromOutbox(tx, 10, 'main'))).length, 0);
  });
});

suite('a source on its way to a cell', () => {
  test('arrives when nothing of it waits for the bucket of that cell, and all cells hear of it', async () => {
    await using scene = await openScene();
    const destination = { kind: 'destination', workspaceId: WORKSPACE, objectId: 'dst_1' } as const;
    const other = { kind: 'source', workspaceId: WORKSPACE, objectId: 'src_2' } as const;
    const arrive = () => scene.system((tx) => arriveSources(tx, 'us'));
    await scene.system(async (tx) => {
      await registerCells(tx, [MAIN, EU, US]);
      await insertSource(tx, { workspaceId: WORKSPACE, id: 'src_1', name: 'Moves' });
      await insertDestination(tx, { ...DESTINATION, source_id: 'src_1' });
    });
    await scene.arrive('main');
    await Promise.all(['main', 'eu', 'us'].map(scene.drain));
    await scene.move('src_1', 'us');
    await scene.system((tx) => addToOutbox(tx, destination));
    assert.equal(await arrive(), 0, 'its destination waits');
    await scene.drain('us');
    await scene.system((tx) => setAside(tx, [{ ...destination, why: 'full' }], 'us'));
    assert.equal(await arrive(), 0, 'its destination was refused');
    await scene.system((tx) => clearFailures(tx, ['dst_1'], 'us'));
    await scene.system((tx) => addRepairsToOutbox(tx, [other], 'us'));
    assert.equal(await arrive(), 0, 'the bucket may be a new one');
    await scene.drain('us');
    await scene.system((tx) => setAside(tx, [{ ...destination, why: 'full' }], 'eu'));
    await Promise.all(['main', 'eu'].map(scene.drain));
    assert.equal(await arrive(), 1);
    assert.deepEqual(await scene.cellsOf('src_1'), { cell: 'us', spare: null, former: ['main'] });
    const told = await Promise.all(['main', 'eu', 'us'].map(scene.drain));
    assert.deepEqual(told, [['src_1'], ['src_1'], ['src_1']]);
    assert.equal(await arrive(), 0, 'once');
  });

  test('waits for a destination that is attached to it at the same time', async () => {
    await using scene = await openScene();
    await scene.system(async (tx) => {
      await registerCells(tx, [MAIN, US]);
      await insertSource(tx, { workspaceId: WORKSPACE, id: 'src_1', name: 'New', cell: 'us' });
    });
    await scene.system(async (tx) => {
      await insertDestination(tx, { ...DESTINATION, source_id: 'src_1' });
      await addToOutbox(tx, { kind: 'destination', workspaceId: WORKSPACE, objectId: 'dst_1' });
      assert.equal(await scene.system((own) => arriveSources(own, 'us')), 0, 'not committed yet');
    });
    assert.equal(await scene.system((tx) => arriveSources(tx, 'us')), 0, 'not in the bucket yet');
    assert.equal(await scene.arrive('us'), 1);
  });

  test('turns to another one: the cell that it does not reach keeps the destinations', async () => {
    await using scene = await openScene();
    await scene.system(async (tx) => {
      await registerCells(tx, [MAIN, EU, US]);
      await insertSource(tx, { workspaceId: WORKSPACE, id: 'src_1', name: 'Moves' });
      await insertSource(tx, { workspaceId: WORKSPACE, id: 'src_2', name: 'New', cell: 'eu' });
    });
    await scene.arrive('main');
    await scene.move('src_1', 'eu');
    await scene.move('src_1', 'us');
    assert.deepEqual(await scene.cellsOf('src_1'), { cell: 'main', spare: null, former: ['eu'] });
    await scene.move('src_1', 'main');
    assert.deepEqual(await scene.cellsOf('src_1'), { cell: 'main', spare: null, former: ['eu', 'us'] });
    assert.deepEqual([await scene.arrive('eu'), await scene.arrive('us')], [1, 0], 'only the new source');
    await scene.system((tx) => insertSource(tx, { workspaceId: WORKSPACE, id: 'src_3', name: 'New', cell: 'eu' }));
    // No cell took requests of it so far.
    await scene.move('src_3', 'main');
    assert.deepEqual(await scene.cellsOf('src_3'), { cell: 'main', spare: null, former: ['eu', 'us'] });
    assert.equal(await scene.arrive('main'), 1);
  });

  test('keeps its cell in the settings', async () => {
    await using scene = await openScene();
    await scene.system((tx) => registerCells(tx, [MAIN, US]));
    await scene.system((tx) => insertSource(tx, { workspaceId: WORKSPACE, id: 'src_1', name: 'Moves' }));
    await scene.arrive('main');
    await scene.move('src_1', 'us');
    assert.deepEqual(await scene.system((tx) => registerCells(tx, [MAIN])), [{ name: 'us', sources: 1 }]);
  });

  test('has arrived at once in an installation with one cell', async () => {
    await using scene = await openScene();
    await scene.system((tx) => insertSource(tx, { workspaceId: WORKSPACE, id: 'src_1', name: 'Here' }));
    const source = await scene.system((tx) => findSource(tx, WORKSPACE, 'src_1'));
    assert.deepEqual([source?.cell, source?.next_cell], ['main', null]);
  });
});

async function openScene() {
  await using opening = new AsyncDisposableStack();
  const postgres = opening.use(await startMigratedPostgres());
  const store = opening.use(await openStore(postgres.serviceUrl));
  const system = <T>(work: (tx: Tx) => Promise<T>) => store.asSystem(work);
  await system((tx) => insertWorkspace(tx, { id: WORKSPACE, name: 'Shop' }));
  /** As if the bucket had taken all of it; resolves with the ids. */
  const drain = (cell: string) =>
    system(async (tx) => {
      const rows = await takeFromOutbox(tx, 100, cell);
      const ids = rows.map(({ id }) => id);
      await deleteFromOutbox(tx, ids);
      return rows.map(({ object_id: id }) => id);
    });
  const open = opening.move();
  return {
    system,
    drain,
    /** The number of sources that arrive when the bucket of the cell has everything. */
    async arrive(cell: string): Promise<number> {
      await drain(cell);
      return system((tx) => arriveSources(tx, cell));
    },
    move: (id: string, cell: string) =>
      system(async (tx) => {
        const source = await findSource(tx, WORKSPACE, id);
        assert.ok(source);
        await moveSource(tx, source, cell);
      }),
    cellsOf: (id: string) =>
      system(async (tx) => {
        const [source] = await sourcesToProject(tx, [id]);
        return { cell: source?.cell, spare: source?.spare, former: source?.former_cells };
      }),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
