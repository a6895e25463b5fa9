/** The NATS clusters of the installation, and the one that this process serves. */
import { type Cell, CELL_NAME, MAIN_CELL } from './domain/cell.ts';
import { areServers } from './nats-settings.ts';
import type { Reader } from './read-setting.ts';

export type CellSettings = {
  /** The cell of this process: deliver serves it, and collect reads its configuration. */
  cell: string;
  /** All cells, `main` first. */
  cells: readonly Cell[];
};

type Given = { url?: unknown; spare?: unknown };

const FORM = 'must be JSON such as {"eu":{"url":"nats://eu:4222","spare":"main"}}';

/** Never repeats a value in a problem: a URL may hold a password. */
export function readCells(read: Reader, natsUrl: string, roles: readonly string[]): CellSettings {
  const problem = (what: string) => read.problem('MILLRACE_CELLS', what);
  const given = readGiven(read.text('MILLRACE_CELLS'));
  if (given === undefined) problem(FORM);
  const { [MAIN_CELL]: main, ...others } = given ?? {};
  if (main?.url !== undefined) problem(`gives main a url: that is MILLRACE_NATS_URL`);
  const all = Object.entries({ [MAIN_CELL]: { ...main, url: natsUrl }, ...others });
  const names = all.map(([name]) => name);
  const cells: Cell[] = [];
  for (const [name, { url, spare }] of all) {
    if (!CELL_NAME.test(name)) problem('has a name that is not a-z, 0-9 and -, at most 32, beginning with a letter');
    const servers = typeof url === 'string' ? url : '';
    if (name !== MAIN_CELL && !areServers(servers)) problem(`${FORM}: ${name} has no such url`);
    const isSpare = typeof spare === 'string' && spare !== name && names.includes(spare);
    if (spare !== undefined && !isSpare) problem(`gives ${name} a spare that is no other cell`);
    cells.push({
      name,
      url: asSameUser(servers, natsUrl),
      ...(isSpare ? { spare } : {}),
    });
  }
  const cell = read.text('MILLRACE_CELL');
  if (!names.includes(cell)) read.problem('MILLRACE_CELL', 'must be main or a cell of MILLRACE_CELLS');
  if (cell !== MAIN_CELL && roles.some((role) => role === 'control' || role === 'compute')) {
    read.problem('MILLRACE_CELL', 'must be main in a process that plays control or compute: those serve all cells');
  }
  return { cell, cells };
}

/** A URL without a user gets that of MILLRACE_NATS_URL, so that every role can have the same MILLRACE_CELLS. */
function asSameUser(url: string, natsUrl: string): string {
  const user = /^(?:\w+:\/\/)?([^@,/]+)@/.exec(natsUrl.trim())?.[1];
  if (user === undefined || url.includes('@')) return url;
  return url
    .split(',')
    .map((server) =>
      server.trim().replace(/^(?:(\w+):\/\/)?/, (_, scheme?: string) => `${scheme ?? 'nats'}://${user}@`),
    )
    .join(',');
}

/** Undefined for text that is not an object of objects. */
function readGiven(text: string): Record<string, Given> | undefined {
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = (each: unknown) => typeof each === 'object' && each !== null && !Array.isArray(each);
    return isObject(value) && Object.values(value as object).every(isObject)
      ? (value as Record<string, Given>)
      : undefined;
  } catch {
    return undefined;
  }
}
