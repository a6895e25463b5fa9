/** The cells of the installation as a process uses them: its home, and links to the others for the roles that need them. */
import { randomBytes } from 'node:crypto';
import { openCellAppender, type CellAppender } from './append-to-cells.ts';
import { type FollowedConfig, followConfig } from './follow-config.ts';
import { reached } from './join-control-sides.ts';
import { type CellLink, openLink } from './open-link.ts';
import type { Cell } from '../domain/configuration.ts';
import type { Logger } from '../log.ts';
import { type Metrics, openMetrics } from '../metrics/open-metrics.ts';
import { pause } from '../pause.ts';
import type { ConfigTrust, ConfigView } from '../stream/config/config-bucket.ts';
import type { StreamSettings } from '../stream/layout/layout.ts';
import type { NatsRole } from '../stream/layout/permissions.ts';
import type { NatsFiles } from '../stream/nats/nats-access.ts';
import { openStream, type Stream } from '../stream/open-stream.ts';
import { VERSION } from '../version.ts';

export type Cells = AsyncDisposable & {
  /** The cell whose configuration, clock and signals this process uses; the one that deliver serves. */
  home: { name: string; stream: Stream };
  /** To every other cell. None for deliver alone. */
  links: readonly CellLink[];
};

/** Of the settings. */
export type CellsConfig = {
  cell: string;
  cells: readonly Cell[];
  roles: readonly NatsRole[];
  natsFiles: NatsFiles;
  stream: StreamSettings;
};

type CellsNeeds = { config: CellsConfig; metrics: Metrics; log: Logger };

/** How long collect waits for its own cell before it starts with another one. */
const PATIENCE_MS = 10_000;

export async function openCells({ config, metrics, log }: CellsNeeds): Promise<Cells> {
  const { natsFiles, roles, stream: settings, cells } = config;
  const processId = randomBytes(11).toString('hex');
  const open = (cell: Cell, shown: Metrics) =>
    openStream({ natsUrl: cell.url, natsFiles, roles, settings, metrics: shown, log, version: VERSION, processId });
  await using starting = new AsyncDisposableStack();
  const home = await openHome(config, (cell) => open(cell, metrics), log);
  starting.use(home.stream);
  const isLinked = roles.some((role) => role !== 'deliver');
  const others = isLinked ? cells.filter(({ name }) => name !== home.name) : [];
  // Gauges of the process are about its home; those of a link would take their place.
  const links = others.map((cell) => openLink({ name: cell.name, open: () => open(cell, openMetrics()), log }));
  for (const link of links) starting.use(link);
  const running = starting.move();
  return { home, links, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Deliver, control and compute need their own cell. Collect starts with any: the sources of the others need it. */
async function openHome(
  { cell: name, cells, roles }: CellsConfig,
  open: (cell: Cell) => Promise<Stream>,
  log: Logger,
): Promise<Cells['home']> {
  const own = cells.filter((cell) => cell.name === name);
  const others = roles.every((role) => role === 'collect') ? cells.filter((cell) => cell.name !== name) : [];
  let failure = new Error('no cell is named');
  for (const cell of [...own, ...others]) {
    try {
      const isOnly = others.length === 0;
      return { name: cell.name, stream: await (isOnly ? open(cell) : within(PATIENCE_MS, open(cell), cell.name)) };
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      if (others.length > 0) log.warn({ cell: cell.name, error: failure.message }, 'cell.unreachable');
    }
  }
  throw failure;
}

async function within(ms: number, opening: Promise<Stream>, name: string): Promise<Stream> {
  const stopped = new AbortController();
  const stream = await Promise.race([opening, pause(ms, stopped.signal)]);
  stopped.abort();
  if (stream !== undefined) return stream;
  // It may still open: nothing uses it then.
  void opening.then(
    (late) => late[Symbol.asyncDispose](),
    () => undefined,
  );
  throw new Error(`the cell ${name} was not ready within ${ms} ms`);
}

/** Whether the process has something to work with: any cell for collect, its home for the other roles. */
export function isAnyConnected({ home, links }: Cells, isCollecting: boolean): boolean {
  return home.stream.isConnected() || (isCollecting && links.some((link) => link.stream()?.isConnected() === true));
}

/**
 * Whether a cell's bucket can be expected to tell of changes. A cluster that lost its majority still holds connections: its event streams, which
 * collect writes all the time, show that it takes nothing.
 */
export function isUsable(stream: Pick<Stream, 'isConnected' | 'isAvailable'> | undefined): boolean {
  return stream?.isConnected() === true && stream.isAvailable();
}

export type CollectCells = CellAppender & Pick<Stream, 'tellSeen' | 'tellRefused'> & { followed: FollowedConfig };

/** Where collect stores requests, where it reads its configuration, and where it tells of what it has seen. */
export function openCollectCells(
  { home, links }: Cells,
  { view, trust, metrics, log }: { view: ConfigView; trust: ConfigTrust | undefined; metrics: Metrics; log: Logger },
): CollectCells {
  const others = links.map(({ name, stream }) => ({
    name,
    isConnected: () => isUsable(stream()),
    openView: async () => reached(stream(), name).configView(trust, ['collect']),
  }));
  const isConnected = () => isUsable(home.stream);
  const followed = followConfig({ home: { name: home.name, isConnected, view }, others, log });
  const reachable = [{ name: home.name, stream: () => home.stream }, ...links];
  const heard = () => reachable.find(({ stream }) => stream()?.isConnected() === true)?.stream() ?? home.stream;
  return {
    ...openCellAppender(reachable, metrics),
    followed,
    tellSeen: (sighting) => heard().tellSeen(sighting),
    tellRefused: (refused) => heard().tellRefused(refused),
  };
}
