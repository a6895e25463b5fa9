import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLog } from '../../../server/src/log.ts';
import { openStream } from '../../../server/src/stream/open-stream.ts';
import { type Contender, deliver, type Launched, startProduct, type Traffic } from '../deliver/contenders.ts';
import { measure, type Plan } from '../deliver/measure.ts';
import { type Receiver, startReceiver } from '../deliver/start-receiver.ts';
import type { BenchOptions, Verdict } from '../run.ts';
import { median, round, spreadOf } from '../spread.ts';
import { STREAM_SETTINGS } from '../stream-settings.ts';
import { destinationChange, fillBucket, longId, quietSource, signer } from './fill-bucket.ts';

type Size = { destinations: number; sources: number };

const FULL: Size = { destinations: 1_000_000, sources: 100_000 };
const QUICK: Size = { destinations: 20_000, sources: 2_000 };
const FEW: Size = { destinations: 100, sources: 10 };
const ACTIVE = 100;
const CHANGES = 20;
const GOALS = { rssMb: 1_000, changeMs: 1_000, costRatio: 1.1 };
/** The bucket has 1.5 % of it: enough for a million entries with what NATS keeps beside them. */
const FILE_STORE_MB = 100_000;
const ROLES = ['collect', 'deliver', 'collect,deliver'] as const;

/** Memory, start, the way of a single change and the cost of a delivery: with a hundred destinations and with very many. */
export async function benchConfiguration({ isQuick }: BenchOptions): Promise<Verdict> {
  const size = isQuick ? QUICK : FULL;
  await using receiver = await startReceiver();
  await using opened = new AsyncDisposableStack();
  const few = opened.use(await launch('few', FEW, receiver));
  const filledAt = performance.now();
  const many = opened.use(await launch('many', size, receiver));
  console.log(`configured and started in ${seconds(filledAt)} s; deliver has ${rssMb(many.pid)} MB`);
  const processes = await processesOf(many.natsUrl ?? '');
  const change = await timeChanges(many.natsUrl ?? '', size, receiver);
  console.log(`change: ${JSON.stringify(change)}`);
  const cost = await costOf({ few, many }, receiver, isQuick);
  const atWork = { few: rssMb(few.pid), many: rssMb(many.pid) };
  const rss = [...Object.values(processes).map(({ rssMb }) => rssMb), atWork.many];
  const isGood =
    rss.every((mb) => mb <= GOALS.rssMb) &&
    change.mostMs <= GOALS.changeMs &&
    change.destinations === size.destinations / size.sources &&
    cost.ratio.median <= GOALS.costRatio;
  const figures = { bench: 'configuration', goals: GOALS, size, processes, rssAtWorkMb: atWork, change, cost };
  return { isGood, figures };
}

type Named = Contender & { launched: Launched; traffic: Traffic };

async function launch(name: string, size: Size, { port }: Receiver): Promise<Launched & Named> {
  const active = Array.from({ length: ACTIVE }, (_, nth) => (nth * size.destinations) / ACTIVE);
  const traffic: Traffic = { shape: 'batch', destinations: active, port };
  const fill: Parameters<typeof deliver>[0]['fill'] = async (stream) =>
    fillBucket({ contender: name, port, active, ...size }, await stream.configWriter(signer));
  const product = { name, configured: size.destinations, fill, maxFileStoreMb: FILE_STORE_MB };
  const launched = await deliver(product, traffic).launch();
  // Measured in place: the bench goes on with it afterwards.
  const again = { ...launched, [Symbol.asyncDispose]: async () => undefined };
  return { ...launched, name, launched, traffic, launch: async () => again };
}

async function costOf({ few, many }: Record<'few' | 'many', Named>, receiver: Receiver, isQuick: boolean) {
  const plan: Plan = {
    traffic: few.traffic,
    launches: 1,
    slices: isQuick ? 3 : 9,
    seconds: isQuick ? 2 : 3,
    deliveriesPerSecond: 1_000,
    warmUpDeliveries: 12_000,
  };
  const slices = await measure([few, many], plan, receiver);
  const us = (name: string) => slices.map((slice) => slice[name]?.us ?? NaN);
  const fewUs = us('few');
  const ratio = spreadOf(us('many').map((cost, nth) => cost / (fewUs[nth] ?? NaN)));
  return { ratio, us: { few: round(median(fewUs)), many: round(median(us('many'))) } };
}

/** A process of each kind, one after the other, from its start until it is ready. */
async function processesOf(natsUrl: string) {
  const figures: Record<string, { readySeconds: number; rssMb: number }> = {};
  for (const roles of ROLES) {
    await using process = await startProduct(natsUrl, roles);
    const figure = { readySeconds: round(process.readySeconds), rssMb: rssMb(process.pid) };
    console.log(`${roles}: ${JSON.stringify(figure)}`);
    figures[roles] = figure;
  }
  return figures;
}

/** From the write of a destination until a view has it. */
async function timeChanges(natsUrl: string, { destinations, sources }: Size, { port }: Receiver) {
  const log = openLog({ level: 'error', pretty: false });
  await using stream = await openStream({ natsUrl, settings: STREAM_SETTINGS, log });
  const writer = await stream.configWriter(signer);
  await using view = await stream.configView({ check: signer.check, mayBeUnsigned: false }, ['deliver']);
  const times: number[] = [];
  for (let nth = 0; nth < CHANGES; nth += 1) {
    const index = Math.floor((nth * destinations) / CHANGES) + 1;
    const name = `changed ${nth}`;
    const sourceId = quietSource(index % sources);
    const startedAt = performance.now();
    await writer.write([destinationChange(index, { contender: 'many', port, sourceId, name })]);
    while (view.destination(longId('dst', index))?.name !== name) await sleep(1);
    times.push(performance.now() - startedAt);
  }
  const ofOneSource = view.destinationsOf(quietSource(1)).length;
  return { medianMs: round(median(times)), mostMs: round(Math.max(...times)), destinations: ofOneSource };
}

function rssMb(pid: number): number {
  const [, kb = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kb) / 1_024);
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 100) / 10;
}
