import { randomBytes } from 'node:crypto';
import { CATALOG, type WebhookSettings } from '@millrace/contract/control';
import { openKeyRing } from '../../../server/src/secrets/seal.ts';
import { sealSettings } from '../../../server/src/secrets/sealed-settings.ts';
import { type ConfigChange } from '../../../server/src/stream/config/config-writer.ts';
import { configKey } from '../../../server/src/stream/config/config-bucket.ts';
import { type Source, sourceConfig } from '../sources.ts';

export type PlannedSource = Source & { workspaceId: string };
export type PlannedDestination = {
  id: string;
  workspaceId: string;
  sourceId: string;
  secret: string;
  /** Each has a host of its own, as customers do: no limit of one host may be shared by accident. */
  host: string;
  /** Where it is instead, if not with the other receivers. */
  origin?: string;
  limits: Pick<WebhookSettings, 'maxConcurrency' | 'maxPerSecond' | 'bodyFormat'>;
};

/** The sources and destinations of each workspace. */
export type Plan = { sources: [PlannedSource, ...PlannedSource[]]; destinations: PlannedDestination[] };
export type PlanShape = {
  /** Begins every id, so that plans can be put together. */
  name: string;
  workspaces: number;
  sourcesEach: number;
  destinationsPerSource: number;
  limits?: PlannedDestination['limits'];
  /** Whether the second destination of each source, the fourth and so on, get batches. */
  hasBatches?: boolean;
};

let hosts = 0;

export function planWorkspaces(shape: PlanShape): Plan {
  const { name, workspaces, sourcesEach, destinationsPerSource, hasBatches = false } = shape;
  const sources: PlannedSource[] = [];
  const destinations: PlannedDestination[] = [];
  for (let index = 0; index < workspaces * sourcesEach; index += 1) {
    const workspaceId = `ws_${name}${index % workspaces}`;
    const source = { id: `src_${name}${index}`, writeKey: `key-${name}-${index}`, workspaceId };
    sources.push(source);
    for (let number = 0; number < destinationsPerSource; number += 1) {
      const id = `dst_${name}${index}x${number}`;
      const secret = randomBytes(24).toString('hex');
      const batches = hasBatches && number % 2 === 1 ? ({ bodyFormat: 'batch' } as const) : {};
      const limits = { ...shape.limits, ...batches };
      destinations.push({ id, workspaceId, sourceId: source.id, secret, host: nextHost(), limits });
    }
  }
  const [first, ...others] = sources;
  if (first === undefined) throw new Error('a plan needs a source');
  return { sources: [first, ...others], destinations };
}

export function destinationIds({ destinations }: Pick<Plan, 'destinations'>): string[] {
  return destinations.map(({ id }) => id);
}

export function joinPlans({ sources, destinations }: Plan, ...others: Plan[]): Plan {
  return {
    sources: [...sources, ...others.flatMap((plan) => plan.sources)],
    destinations: [...destinations, ...others.flatMap((plan) => plan.destinations)],
  };
}

/** All of 127.0.0.0/8 is this machine. */
function nextHost(): string {
  hosts += 1;
  return `127.${1 + (hosts >> 16)}.${(hosts >> 8) & 0xff}.${hosts & 0xff}`;
}

export const KEY = Buffer.alloc(32, 'k');
const keyRing = openKeyRing(new Map([[1, KEY]]));

/** As control would have written it to the bucket, secrets sealed. */
export function configOf({ sources, destinations }: Plan, port: number): ConfigChange[] {
  const ofSources = sources.map((source) => {
    return { key: configKey.source(source.id), value: JSON.stringify(sourceConfig(source, source.workspaceId)) };
  });
  const ofDestinations = destinations.map((destination) => {
    return { key: configKey.destination(destination.id), value: JSON.stringify(destinationConfig(destination, port)) };
  });
  return [...ofSources, ...ofDestinations];
}

function destinationConfig(planned: PlannedDestination, port: number) {
  const { id, workspaceId, sourceId, secret, limits } = planned;
  const [entry] = CATALOG;
  if (entry === undefined) throw new Error('the catalog is empty');
  const origin = planned.origin ?? `http://${planned.host}:${port}`;
  const value = { targets: [{ url: `${origin}/${id}` }], sharedSecret: secret, ...limits };
  const sealed = { owner: { workspaceId, destinationId: id }, keyRing };
  const settings = sealSettings(entry, { value, kept: new Map() }, sealed);
  const updatedAt = '2026-01-01T00:00:00Z';
  return { id, workspaceId, sourceId, catalog: entry.name, name: id, enabled: true, settings, updatedAt };
}
