/** `millrace size`: disks, memory, processes and connections for a load. Needs no server. */
import process from 'node:process';
import { Command, InvalidArgumentError, Option } from 'commander';
import { withExamples } from '../output/example-of.ts';
import { describeSizing } from '../sizing/describe-sizing.ts';
import { sizeInstallation, USUAL, type Workload } from '../sizing/size-installation.ts';

type Flags = {
  events: number;
  peak: number;
  bytes: number;
  batch: number;
  destinations: number;
  retention: number;
  record: number;
  replicas: '1' | '3';
  failing: number;
  outage: number;
  answer: number;
  json?: true;
};

export function sizeCommand(): Command {
  const command = new Command('size')
    .description('estimate disks, memory, processes and connections for a load; held against measurements within 30 %')
    .option('--events <number>', 'events a second, the mean of a day', positive, USUAL.eventsPerSecond)
    .option('--peak <factor>', 'the busiest minutes as a multiple of the mean', atLeastOne, USUAL.peakFactor)
    .option('--bytes <number>', 'mean size of an event as JSON', positive, USUAL.eventBytes)
    .option('--batch <number>', 'calls in one request', atLeastOne, USUAL.callsPerRequest)
    .option('--destinations <number>', 'destinations of an event', positive, USUAL.destinationsPerEvent)
    .option('--retention <hours>', 'hours that events are kept for replays', positive, USUAL.retentionHours)
    .option('--record <days>', 'days that deliveries can be looked up', positive, USUAL.recordDays)
    .addOption(new Option('--replicas <number>', 'copies of each message').choices(['1', '3']).default('3'))
    .option('--failing <percent>', 'deliveries whose receiver is down', percent, USUAL.failingShare * 100)
    .option('--outage <hours>', 'hours that such a receiver is down', positive, USUAL.outageHours)
    .option('--answer <ms>', 'milliseconds until a receiver answers', positive, USUAL.answerMs)
    .option('--json', 'print the load and its sizing as JSON')
    .action((flags: Flags) => {
      const load = loadOf(flags);
      const sizing = sizeInstallation(load);
      const text = flags.json ? JSON.stringify({ load, sizing }) : describeSizing(sizing);
      process.stdout.write(`${text}\n`);
    });
  return withExamples(
    command,
    {
      run: 'millrace size --events 2000 --destinations 3',
      shows: 'what 2,000 events a second need, each for 3 destinations',
    },
    { run: 'millrace size --events 50 --replicas 1 --json', shows: 'the same for one machine, for a script' },
  );
}

function loadOf(flags: Flags): Workload {
  return {
    eventsPerSecond: flags.events,
    peakFactor: flags.peak,
    eventBytes: flags.bytes,
    callsPerRequest: flags.batch,
    destinationsPerEvent: flags.destinations,
    retentionHours: flags.retention,
    recordDays: flags.record,
    replicas: flags.replicas === '1' ? 1 : 3,
    failingShare: flags.failing / 100,
    outageHours: flags.outage,
    answerMs: flags.answer,
  };
}

/** Sizes beyond anything that was ever run give no number that means something. */
const MOST = 1e15;

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= MOST)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

function atLeastOne(text: string): number {
  const value = positive(text);
  if (value < 1) throw new InvalidArgumentError('It must be a number from 1 on.');
  return value;
}

function percent(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 100)) throw new InvalidArgumentError('It must be from 0 to 100.');
  return value;
}
