import { CATALOG, type CatalogEntry, type WebhookSettings } from '@millrace/contract/control';
import { type BodyFormat, signingKey, type SigningKey } from '@millrace/contract';
import { type Routing, whyNotUnderstood } from '../../domain/route-event.ts';
import type { DestinationOwner } from '../../domain/read-config.ts';
import type { Logger } from '../../log.ts';
import { openSettings } from '../../secrets/sealed-settings.ts';
import type { KeyRing } from '../../secrets/seal.ts';
import type { DestinationConfig } from '../../domain/configuration.ts';

/** A destination made ready to be sent to. */
export type Webhook = {
  destinationId: string;
  workspaceId: string;
  sourceId: string;
  /** With the headers that are always the same, as name, value, name, value, … */
  targets: readonly { url: string; headers: readonly string[] }[];
  secret: SigningKey | undefined;
  previousSecret: { key: SigningKey; validUntil: number } | undefined;
  policy: 'any' | 'all';
  format: BodyFormat;
  maxConcurrency: number | undefined;
  maxPerSecond: number | undefined;
  /** Nothing is sent, and what comes waits in its lane. */
  isPaused: boolean;
  /** It was made by a newer version than this process is: a newer process sends what waits. */
  isForNewer: boolean;
  resumedAt: number;
};

export type WebhooksNeeds = { keyRing: KeyRing | undefined; log: Logger };
export type WebhookOf = (destination: DestinationConfig) => Webhook;

/** Opening secrets costs more than a delivery, so each version of a destination's configuration is opened once. */
export function openWebhooks({ keyRing, log }: WebhooksNeeds): WebhookOf {
  const opened = new WeakMap<DestinationConfig, Webhook>();
  return (destination) => {
    const known = opened.get(destination);
    if (known !== undefined) return known;
    const read = readWebhook(destination, keyRing);
    if (!read.ok) log.error({ destinationId: destination.id, problem: read.problem }, 'destination.unreadable');
    const webhook = read.ok ? read.webhook : unreadable(destination);
    opened.set(destination, webhook);
    return webhook;
  };
}

/** What we cannot read today a right key may open tomorrow: until then its deliveries wait. */
function unreadable(destination: DestinationConfig): Webhook {
  const isForNewer = whyNotUnderstood(destination, accepts) !== undefined;
  return { ...makeWebhook(destination, { targets: [] }, undefined), isPaused: true, isForNewer };
}

/** For what is told of deliveries to a destination that was deleted; nothing is sent. */
export function deletedWebhook(id: string, owner: DestinationOwner): Webhook {
  const nothing = { id, catalog: '', name: id, enabled: false, settings: {}, updatedAt: '' };
  return { ...makeWebhook({ ...nothing, ...owner }, { targets: [] }, undefined), isPaused: true };
}

type WebhookRead = { ok: true; webhook: Webhook } | { ok: false; problem: string };

/** The secrets that sign now, the newest first. */
export function secretsOf({ secret, previousSecret }: Webhook, now: number): SigningKey[] {
  if (secret === undefined) return [];
  return previousSecret !== undefined && previousSecret.validUntil > now ? [secret, previousSecret.key] : [secret];
}

export const ENTRIES: ReadonlyMap<string, CatalogEntry> = new Map(CATALOG.map((entry) => [entry.name, entry]));

export const accepts: Routing['accepts'] = (catalog) => ENTRIES.get(catalog)?.accepts;

function readWebhook(destination: DestinationConfig, keyRing: KeyRing | undefined): WebhookRead {
  const entry = ENTRIES.get(destination.catalog);
  const problem = whyNotUnderstood(destination, accepts);
  if (entry === undefined || problem !== undefined) return { ok: false, problem: problem ?? 'not in the catalog' };
  if (keyRing === undefined) return { ok: false, problem: 'MILLRACE_KEYS is not set, and the settings are sealed' };
  try {
    const owner = { workspaceId: destination.workspaceId, destinationId: destination.id };
    const { value, previous } = openSettings(entry, destination.settings, { owner, keyRing });
    const before = previous.get('/sharedSecret');
    return { ok: true, webhook: makeWebhook(destination, value as WebhookSettings, before) };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

function makeWebhook(
  destination: DestinationConfig,
  settings: WebhookSettings,
  before: { value: string; validUntil: Date } | undefined,
): Webhook {
  return {
    destinationId: destination.id,
    workspaceId: destination.workspaceId,
    sourceId: destination.sourceId,
    targets: settings.targets.map(({ url, headers }) => ({ url, headers: fixedHeaders(headers) })),
    secret: settings.sharedSecret === undefined ? undefined : signingKey(settings.sharedSecret),
    previousSecret: before && { key: signingKey(before.value), validUntil: before.validUntil.getTime() },
    policy: settings.successPolicy ?? 'any',
    format: settings.bodyFormat ?? 'documented',
    maxConcurrency: settings.maxConcurrency,
    maxPerSecond: settings.maxPerSecond,
    isPaused: destination.paused === true,
    isForNewer: false,
    resumedAt: destination.resumedAt === undefined ? 0 : Date.parse(destination.resumedAt),
  };
}

/** Ours first, then those that the owner set. */
export function fixedHeaders(own: Readonly<Record<string, string>> = {}): string[] {
  return ['User-Agent', 'Millrace/1.0', 'Content-Type', 'application/json', ...Object.entries(own).flat()];
}
