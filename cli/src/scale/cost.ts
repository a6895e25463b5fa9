/** A month at list prices. Without people, support, backups, load balancers, logs and metrics. */
import type { Prices } from './prices.ts';
import type { Traffic } from './traffic.ts';

export type Hardware = { cores: number; memoryBytes: number; diskBytes: number };
export type Cost = Record<'cores' | 'memory' | 'disks' | 'betweenZones' | 'toReceivers' | 'total', number> & {
  currency: string;
  pricesAsOf: string;
  /** For a million events that came in. */
  perMillionEvents: number;
};

const MONTH_HOURS = 730;
const HOUR_S = 3_600;
const GB = 1e9;

export type Billed = { hardware: Hardware; traffic: Traffic; meanEventsPerSecond: number; peakFactor: number };

export function costOf({ hardware, traffic, meanEventsPerSecond, peakFactor }: Billed, prices: Prices): Cost {
  const monthGb = (bytesPerSecond: number) => (bytesPerSecond / peakFactor / GB) * MONTH_HOURS * HOUR_S;
  const cores = hardware.cores * MONTH_HOURS * prices.coreHour;
  const memory = (hardware.memoryBytes / GB) * MONTH_HOURS * prices.memoryGbHour;
  const disks = (hardware.diskBytes / GB) * prices.diskGbMonth;
  const betweenZones = monthGb(traffic.zoneBytes) * prices.zoneGb;
  const toReceivers = monthGb(traffic.outBytes) * prices.internetGb;
  const total = cores + memory + disks + betweenZones + toReceivers;
  return {
    cores,
    memory,
    disks,
    betweenZones,
    toReceivers,
    total,
    perMillionEvents: total / ((meanEventsPerSecond * MONTH_HOURS * HOUR_S) / 1e6),
    currency: prices.currency,
    pricesAsOf: prices.asOf,
  };
}
