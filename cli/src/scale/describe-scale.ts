/** A plan as people read it. */
import { bytes } from '../sizing/describe-sizing.ts';
import type { Ceiling, Count } from './ceilings.ts';
import type { Prices } from './prices.ts';
import type { ScalePart, ScalePlan } from './plan-scale.ts';
import type { ScaleLoad } from './scale-load.ts';

const NAMES: Readonly<Record<ScalePart['part'], string>> = {
  collect: 'collect',
  deliver: 'deliver',
  control: 'control',
  nats: 'NATS',
  postgres: 'PostgreSQL',
};

export function describeScale(load: ScaleLoad, plan: ScalePlan, prices: Prices): string {
  const { eventsPerSecond, callsPerRequest, destinationsPerEvent } = load;
  return [
    `${whole(eventsPerSecond)} events, ${whole(eventsPerSecond / callsPerRequest)} requests and ${whole(eventsPerSecond * destinationsPerEvent)} deliveries a second; ${whole(load.destinations)} destinations, ${load.failingShare * 100} % of the deliveries fail.`,
    '',
    `Installations, with a PostgreSQL each: ${countText(plan.installations)}.`,
    `Cells, with a NATS cluster each: ${countText(plan.cells)}.`,
    '',
    ...partTable(plan.parts),
    '',
    `Streams in each cell: ${plan.streams.events} for events, ${plan.streams.lanes} for lanes, ${plan.streams.outcomes} for outcomes.`,
    `Settings: ${Object.entries(plan.settings)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')}`,
    '',
    ...networkLines(plan),
    '',
    'One of each carries, in events a second (~ from an estimate):',
    ...plan.ceilings.map(ceilingLine),
    '',
    ...costLines(plan, prices),
    ...plan.warnings.flatMap((warning) => ['', `Note: ${warning}`]),
  ].join('\n');
}

function countText({ count, decidedBy }: Count): string {
  return `${whole(count)} (${decidedBy})`;
}

function partTable(parts: readonly ScalePart[]): string[] {
  const head = ['in all', 'processes', 'machines', 'cores', 'memory', 'disk'];
  const rows = parts.map(({ part, processes, machines, cores, memoryBytes, diskBytes }) => [
    NAMES[part],
    whole(processes),
    whole(machines),
    whole(cores),
    bytes(memoryBytes),
    diskBytes === 0 ? '–' : bytes(diskBytes),
  ]);
  return [head, ...rows].map((cells) => cells.map(column).join('').trimEnd());
}

function column(text: string, index: number): string {
  return index === 0 ? text.padEnd(12) : text.padStart(11);
}

function networkLines({ traffic }: ScalePlan): string[] {
  const { inBytes, outBytes, insideBytes, zoneBytes, natsDiskBytes } = traffic;
  return [
    `Network, a second: ${bytes(inBytes)} from clients, ${bytes(outBytes)} to receivers, ${bytes(insideBytes)} between machines, of which ${bytes(zoneBytes)} between zones.`,
    `Each NATS server syncs ${bytes(natsDiskBytes)} a second to its disk.`,
  ];
}

function ceilingLine({ component, eventsPerSecond, needed, isEstimate, remedy }: Ceiling): string {
  const carries = `${isEstimate ? '~' : ''}${whole(eventsPerSecond)}`;
  const here = needed === 1 ? 'one is enough' : `${whole(needed)} here: ${remedy}`;
  return `  ${component.padEnd(32)}${carries.padStart(12)}  ${here}`;
}

function costLines({ cost }: ScalePlan, { about }: Prices): string[] {
  const money = (value: number) => `${whole(value)} ${cost.currency}`;
  return [
    `Cost a month: ${money(cost.total)}, ${Number(cost.perMillionEvents.toPrecision(2))} ${cost.currency} for a million events.`,
    `  cores ${money(cost.cores)}, memory ${money(cost.memory)}, disks ${money(cost.disks)}, between zones ${money(cost.betweenZones)}, to receivers ${money(cost.toReceivers)}`,
    `  Prices of ${cost.pricesAsOf}. ${about}`,
  ];
}

function whole(value: number): string {
  return Math.ceil(value).toLocaleString('en-US');
}
