/**
 * The figures that `millrace size` and `npm run scale` calculate with, each by name, and nowhere else. docs/measurements/figures.md prints
 * them (`node scripts/print-figures.ts --write`), and a test holds that page, the sentences that are quoted from the measurements and the
 * limits of the server against this table.
 */

/**
 * measured: a sentence of docs/measurements has the figure. fitted: chosen so that answers stay within 30 % of `npm run bench -- sizing`,
 * `-- scale` and `-- scale-check`. set: a constant of the server. plan: a margin that we chose. estimate: no measurement exists.
 */
export type Basis = 'measured' | 'fitted' | 'set' | 'plan' | 'estimate';

export type Figure = {
  value: number;
  unit: string;
  basis: Basis;
  means: string;
  /** Where a measured figure stands: a page of docs/measurements and the words in it. */
  says?: { page: string; words: string };
};

const fitted = (value: number, unit: string, means: string): Figure => ({ value, unit, basis: 'fitted', means });
const set = (value: number, unit: string, means: string): Figure => ({ value, unit, basis: 'set', means });
const plan = (value: number, unit: string, means: string): Figure => ({ value, unit, basis: 'plan', means });
const estimate = (value: number, unit: string, means: string): Figure => ({ value, unit, basis: 'estimate', means });
const measured = (value: number, unit: string, means: string, words: string): Figure => ({
  value,
  unit,
  basis: 'measured',
  means,
  says: { page: 'README.md', words },
});

export const FIGURES = {
  'cpu.piece': fitted(
    880,
    'µs',
    'CPU for a piece of work that never changes, which the benches do beside their loads: where it takes longer, the product does by about as much',
  ),
  'cpu.collect.request': fitted(210, 'µs', 'CPU of collect for a request'),
  'cpu.collect.call': fitted(12, 'µs', 'CPU of collect for a call in it'),
  'cpu.collect.kilobyte': fitted(4, 'µs', 'CPU of collect for a kilobyte of a call'),
  'cpu.deliver.request': fitted(185, 'µs', 'CPU of deliver for a stored request'),
  'cpu.deliver.delivery': fitted(118, 'µs', 'CPU of deliver for a delivery over a kept connection without TLS'),
  'cpu.deliver.in-batch': fitted(52, 'µs', 'the same for one more event in a POST of several'),
  'cpu.deliver.kilobyte': fitted(4, 'µs', 'CPU of deliver for a kilobyte of a delivery'),
  'cpu.deliver.failing': fitted(200, 'µs', 'CPU of deliver to park a delivery that fails, and to give it up'),
  'cpu.deliver.tls': estimate(50, 'µs', 'CPU that TLS adds to a POST over a kept connection'),
  'cpu.deliver.open': estimate(50, 'µs', 'CPU to open the entry of a destination that left the cache'),
  'cpu.control.request': fitted(28, 'µs', 'CPU of control for the usage of a request'),
  'cpu.control.delivery': fitted(62, 'µs', 'CPU of control to record a delivery'),
  'cpu.control.in-batch': fitted(40, 'µs', 'the same for one more event in a POST of several'),
  'cpu.control.failing': fitted(50, 'µs', 'CPU of control to record that a delivery failed'),
  'cpu.nats.request': fitted(165, 'µs', 'CPU of a NATS server for a request'),
  'cpu.nats.kilobyte': fitted(4, 'µs', 'CPU of a NATS server for a kilobyte of a call'),
  'cpu.nats.delivery': fitted(13, 'µs', 'CPU of a NATS server for the outcome of a delivery'),
  'cpu.nats.in-batch': fitted(3, 'µs', 'the same for one more event in a POST of several'),
  'cpu.nats.failing': fitted(100, 'µs', 'CPU of a NATS server for a delivery that waits in its lane'),
  'cpu.postgres.request': fitted(35, 'µs', 'CPU of PostgreSQL for the usage of a request'),
  'cpu.postgres.delivery': fitted(108, 'µs', 'CPU of PostgreSQL for a recorded delivery'),
  'cpu.postgres.in-batch': fitted(78, 'µs', 'the same for one more event in a POST of several'),
  'cpu.postgres.plain': estimate(
    30,
    'µs',
    'CPU of PostgreSQL for a delivery that `MILLRACE_RECORD_ROWS` leaves without a row',
  ),
  'cpu.postgres.failing': fitted(100, 'µs', 'CPU of PostgreSQL for the failed attempts of a delivery'),

  'deliver.one-destination': measured(
    122,
    'µs',
    'CPU of deliver for a delivery, all to one destination',
    'deliver, one destination: CPU as a ratio to a twin with both signatures | `npm run bench -- deliver` | 1.84 (1.71–1.90), 122 µs a delivery',
  ),
  'deliver.many-destinations': measured(
    185,
    'µs',
    'the same, spread over 1,000 destinations',
    'deliver, 1,000 destinations | | 1.98 (1.75–2.18), 185 µs',
  ),
  'deliver.cached-destinations': set(10_000, '', 'destinations that a deliver process keeps opened'),
  'deliver.slots': set(1_000, '', 'attempts under way in a deliver process (`MILLRACE_MAX_IN_FLIGHT`)'),
  'record.per-second': measured(
    9_353,
    'a second',
    'deliveries that one stream of outcomes records: one transaction at a time',
    '1.27; 71 µs, 9,353 a second',
  ),
  'stream.requests': estimate(500, 'a second', 'requests that one event stream syncs, with a disk that syncs in 1 ms'),
  'streams.most': set(64, '', 'event streams, lane streams or streams of outcomes at most'),
  'cell.servers': plan(
    3,
    '',
    'NATS servers of a cell at most: beyond the number of copies only where streams spread over them',
  ),
  'cell.events': estimate(50_000, 'a second', 'events of one cell at most'),

  'bytes.request': fitted(300, 'bytes', 'envelope of a stored request'),
  'bytes.lane': fitted(200, 'bytes', 'a waiting delivery beside its event'),
  'bytes.dead-letter': fitted(600, 'bytes', 'a dead letter beside its event'),
  'bytes.row': fitted(1_200, 'bytes', 'a delivery in PostgreSQL with attempt, counters and indexes'),
  'bytes.plain-row': estimate(150, 'bytes', 'a delivery that `MILLRACE_RECORD_ROWS` leaves without a row'),
  'bytes.outcome': fitted(600, 'bytes', 'an outcome in its stream, with one stream of outcomes'),
  'bytes.http-in': estimate(400, 'bytes', 'headers of a request to collect and of its answer'),
  'bytes.post': set(220, 'bytes', 'line and headers of a POST, of however many events'),
  'bytes.signatures': set(125, 'bytes', 'both signatures of a POST, where the destination has a secret'),
  'bytes.in-post': set(115, 'bytes', 'attempt and order of an event, in headers of its own or beside it in a batch'),
  'bytes.destination': fitted(700, 'bytes', 'memory of a configured destination in each deliver process'),

  'memory.collect': fitted(160_000_000, 'bytes', 'memory of a collect process under load'),
  'memory.deliver': fitted(400_000_000, 'bytes', 'memory of a deliver process under load'),
  'memory.control': fitted(390_000_000, 'bytes', 'memory of a control process under load'),
  'memory.nats': fitted(300_000_000, 'bytes', 'memory of a NATS server without page cache'),
  'memory.postgres': fitted(65_000_000, 'bytes', 'memory of PostgreSQL without shared buffers'),

  'store.events': set(0.499, '', 'part of `max_file_store` for events'),
  'store.lanes': set(0.16, '', 'part of it for lanes'),
  'store.dead-letters': set(0.05, '', 'part of it for dead letters'),
  'store.outcomes': set(0.06, '', 'part of it for outcomes'),
  'retry.hours': set(4, 'h', 'time after which a delivery is given up'),

  'plan.busy-core': plan(0.65, '', 'part of a core that is planned as busy'),
  'plan.busy-slots': plan(0.5, '', 'part of the slots that is planned as busy'),
  'plan.memory': plan(2, '', 'memory to provide as a multiple of the memory in use'),
  'plan.free-disk': plan(0.2, '', 'part of a disk that stays free beside `max_file_store`'),
  'plan.free-database': plan(0.33, '', 'part of a disk that PostgreSQL wants for its log, vacuum and bloat'),
  'plan.full-events': plan(0.65, '', 'fill of the event streams at most: deliver drops from 0.7 on'),
  'plan.full-others': plan(0.8, '', 'fill of the other streams at most'),
  'plan.record-outage': plan(1, 'h', 'time that PostgreSQL may be away without a gap in the record'),
  'plan.nats-cache': plan(1_000_000_000, 'bytes', 'page cache of a NATS server'),
  'plan.postgres-cache': plan(2_000_000_000, 'bytes', 'shared buffers and page cache of PostgreSQL'),
  'plan.nats-cores': plan(16, '', 'cores of the largest machine for a NATS server'),
  'plan.postgres-cores': plan(64, '', 'cores of the largest machine for PostgreSQL'),
  'plan.engine-memory': plan(4_000_000_000, 'bytes', 'memory of a NATS server or of PostgreSQL for each of its cores'),
  'plan.zones': plan(0.67, '', 'part of the traffic between two machines that crosses zones, of three'),
} as const satisfies Record<string, Figure>;

export type FigureName = keyof typeof FIGURES;

export function figure(name: FigureName): number {
  return FIGURES[name].value;
}

/** Whether a figure rests on no measurement, so that an answer made from it says so. */
export function isEstimate(name: FigureName): boolean {
  return FIGURES[name].basis === 'estimate';
}
