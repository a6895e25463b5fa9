/** Two cells: one process with all roles in `main`, and one with deliver in `eu`; asked over HTTP as people would. */
import { createHash } from 'node:crypto';
import { startNatsCluster } from '@millrace/engines';
import { pino } from 'pino';
import { readConfig } from '../src/config.ts';
import { MAIN_CELL } from '../src/domain/configuration.ts';
import { type Running, startRoles } from '../src/start-roles.ts';
import { startMigratedPostgres } from './migrated-postgres.ts';
import { addDestination, overHttp, stackSettings } from './stack.ts';
import { until } from './until.ts';

export type CellLine = { msg: string; cell?: string; error?: string };
export type CellScene = { sourceId: string; destinationId: string; writeKey: string };

/** `spares`: the spare of each cell that has one. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function openTwoCells(spares: { main?: string; eu?: string } = {}) {
  await using opening = new AsyncDisposableStack();
  const main = opening.use(await startNatsCluster({ nodes: 1 }));
  const eu = opening.use(await startNatsCluster({ nodes: 1 }));
  const postgres = opening.use(await startMigratedPostgres());
  const cells = {
    main: { ...(spares.main !== undefined && { spare: spares.main }) },
    eu: { url: eu.url, ...(spares.eu !== undefined && { spare: spares.eu }) },
  };
  const processes = opening.use(new AsyncDisposableStack());
  const lines: CellLine[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as CellLine);
  const play = async (change: Record<string, string>): Promise<Running> => {
    const env = { ...stackSettings(main.url, postgres), MILLRACE_METRICS_PORT: '0', ...change };
    const read = readConfig({ ...env, MILLRACE_CELLS: JSON.stringify(cells) });
    if (!read.ok) throw new Error(read.problems.join(', '));
    return processes.use(await startRoles(read.value, pino({ level: 'info' }, { write })));
  };
  const first = await play({});
  const second = await play({ MILLRACE_ROLES: 'deliver', MILLRACE_CELL: 'eu' });
  const controlUrl = () => `http://127.0.0.1:${first.control?.port}`;
  const http = overHttp({ controlUrl, collectUrl: () => `http://127.0.0.1:${first.collectPort}` });
  const viewOf = (cell: string) => (cell === 'eu' ? second : first).view;
  await until(() => lines.some(({ msg, cell }) => msg === 'cell.opened' && cell === 'eu'));
  const open = opening.move();
  return {
    ...http,
    nats: { main, eu },
    lines,
    play,
    first,
    viewOf,
    /** A source of this cell with one webhook, as soon as its cell knows both. */
    async addScene(cell: string, url: string): Promise<CellScene> {
      type Source = { id: string; writeKeys: { key: string }[] };
      const source = await http.get<Source>('POST', '/sources', { name: `In ${cell}`, cell });
      const destinationId = await addDestination(http, source.id, { targets: [{ url }] });
      const writeKey = source.writeKeys[0]?.key ?? '';
      const keyHash = createHash('sha256').update(writeKey).digest('hex');
      // Until then no cell takes its calls.
      await until(() => {
        const known = first.view?.sourceByKeyHash(keyHash);
        return known !== undefined && (known.cell ?? MAIN_CELL) === cell;
      });
      await until(() => viewOf(cell)?.destination(destinationId) !== undefined);
      return { sourceId: source.id, destinationId, writeKey };
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
