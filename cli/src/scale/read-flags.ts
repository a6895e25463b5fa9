/** The flags of `npm run scale`. An unknown one is refused, with the nearest known one. */
import { MAX_BATCHED_EVENTS, MAX_CALLS } from '@millrace/contract';
import { Command, InvalidArgumentError } from 'commander';
import { EXAMPLE_PRICES } from './prices.ts';
import { type ScaleLoad, USUAL_LOAD } from './scale-load.ts';

export type ScaleFlags = { load: ScaleLoad; prices: string; isJson: boolean; isCheck: boolean };

type Values = {
  events: number;
  bytes: number;
  batch: number;
  destinations: number;
  failing: number;
  retention: number;
  fanout: number;
  perPost: number;
  peak: number;
  record: number;
  rows: number;
  answer: number;
  plain?: true;
  single?: true;
  disk: number;
  servers: number;
  cores: number;
  prices: string;
  json?: true;
  check?: true;
};

const HOURS: Readonly<Record<string, number>> = { m: 1 / 60, h: 1, d: 24 };
const DAY_HOURS = 24;

export function scaleProgram(run: (flags: ScaleFlags) => void | Promise<void>): Command {
  const usual = USUAL_LOAD;
  return new Command('npm run scale --')
    .description('cells, servers, processes, disks, memory, network and a monthly cost from a load')
    .option('--events <number>', 'events a second in the busiest minutes', positive, usual.eventsPerSecond)
    .option('--bytes <number>', 'mean size of an event as JSON', positive, usual.eventBytes)
    .option('--batch <number>', 'calls in one request', upTo(MAX_CALLS), usual.callsPerRequest)
    .option('--destinations <number>', 'destinations that are configured, in all', atLeastOne, usual.destinations)
    .option('--failing <share>', 'deliveries whose receiver is down: 0.02 or 2%', share, usual.failingShare)
    .option('--retention <time>', 'how long events are kept for replays: 72h or 3d', hours, usual.retentionHours)
    .option('--fanout <number>', 'destinations of one event', positive, usual.destinationsPerEvent)
    .option('--per-post <number>', 'events in one POST to a receiver', upTo(MAX_BATCHED_EVENTS), usual.eventsPerPost)
    .option('--peak <factor>', 'the busiest minutes as a multiple of the mean', atLeastOne, usual.peakFactor)
    .option('--record <time>', 'how long deliveries can be looked up: 7d', hours, usual.recordDays * DAY_HOURS)
    .option('--rows <share>', 'deliveries with a row in the record although they went well', share, usual.rowsKept)
    .option('--answer <ms>', 'milliseconds until a receiver answers', positive, usual.answerMs)
    .option('--plain', 'receivers without TLS')
    .option('--single', 'one copy of each message, one of each role: an outage is an outage')
    .option('--disk <terabytes>', 'the largest disk of a server', positive, usual.diskBytes / 1e12)
    .option('--servers <number>', 'NATS servers of a cell at most: 3, 6, 9 …', atLeastOne, usual.serversPerCell)
    .option('--cores <number>', 'cores of a machine for processes', atLeastOne, usual.coresPerMachine)
    .option('--prices <file>', 'a list of prices in the form of cli/src/scale/prices.json', EXAMPLE_PRICES)
    .option('--json', 'one line of JSON')
    .option('--check', 'measures small loads on this machine and compares: npm run bench -- scale-check')
    .allowExcessArguments(false)
    .showHelpAfterError('Try npm run scale -- --help')
    .action((values: Values) => run(flagsOf(values)));
}

function flagsOf(values: Values): ScaleFlags {
  const load: ScaleLoad = {
    eventsPerSecond: values.events,
    peakFactor: values.peak,
    eventBytes: values.bytes,
    callsPerRequest: values.batch,
    destinations: values.destinations,
    destinationsPerEvent: values.fanout,
    eventsPerPost: values.perPost,
    failingShare: values.failing,
    retentionHours: values.retention,
    recordDays: values.record / DAY_HOURS,
    rowsKept: values.rows,
    answerMs: values.answer,
    hasTls: values.plain !== true,
    replicas: values.single === true ? 1 : 3,
    diskBytes: values.disk * 1e12,
    serversPerCell: values.servers,
    coresPerMachine: Math.floor(values.cores),
  };
  return { load, prices: values.prices, isJson: values.json === true, isCheck: values.check === true };
}

function positive(text: string): number {
  const value = numberIn(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number above 0, such as 700.');
  return value;
}

function atLeastOne(text: string): number {
  const value = numberIn(text);
  if (!(value >= 1)) throw new InvalidArgumentError('It must be a number from 1 on.');
  return value;
}

/** The server takes or sends no more than this: a plan with more would be cheaper than any that can be run. */
function upTo(most: number): (text: string) => number {
  return (text) => {
    const value = atLeastOne(text);
    if (value > most) throw new InvalidArgumentError(`The server takes ${most} at most.`);
    return value;
  };
}

function share(text: string): number {
  const value = text.endsWith('%') ? numberIn(text.slice(0, -1)) / 100 : numberIn(text);
  if (!(value >= 0 && value <= 1)) throw new InvalidArgumentError('It must be from 0 to 1, such as 0.02, or 2%.');
  return value;
}

function hours(text: string): number {
  const [, amount = '', unit = ''] = /^(\d+(?:\.\d+)?)([mhd])$/.exec(text) ?? [];
  const value = Number(amount) * (HOURS[unit] ?? 0);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a length of time with its unit, such as 72h or 3d.');
  return value;
}

/** Not a number for a text that is none, and for sizes beyond anything that was ever run. */
function numberIn(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text.replaceAll('_', ''));
  return Math.abs(value) <= 1e15 ? value : Number.NaN;
}
