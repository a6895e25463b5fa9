/**
 * A destination as deliver uses it: its settings opened, and all headers of its POSTs. Names of headers, and the names that the
 * owner of a destination may not use, are in `domain/webhook-headers.ts`.
 */
import { CATALOG, type CatalogEntry, type WebhookSettings } from '@millrace/contract/control';
import { type BodyFormat, signBody, signingKey, type SigningKey, signStandardWebhook } from '@millrace/contract';
import { type Delivery, deliveryId, orderOf } from '../../domain/delivery.ts';
import { type Routing, whyNotUnderstood } from '../../domain/route-event.ts';
import type { DestinationOwner } from '../../domain/read-config.ts';
import { SET_HEADERS } from '../../domain/webhook-headers.ts';
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
  /** `user`: the events of one user in one request are sent one after the other. */
  order: 'none' | 'user';
  maxConcurrency: number | undefined;
  maxPerSecond: number | undefined;
  /** Nothing is sent, and new deliveries wait in the lane. */
  isPaused: boolean;
  /** A newer version than this process made it: a newer process sends the waiting deliveries. */
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

/** A right key may open the settings later: until then the deliveries wait. */
function unreadable(destination: DestinationConfig): Webhook {
  const isForNewer = whyNotUnderstood(destination, accepts) !== undefined;
  return { ...makeWebhook(destination, { targets: [] }, undefined), isPaused: true, isForNewer };
}

/** For the record of deliveries to a destination that was deleted; nothing is sent. */
export function deletedWebhook(id: string, owner: DestinationOwner): Webhook {
  const nothing = { id, catalog: '', name: id, enabled: false, settings: {}, updatedAt: '' };
  return { ...makeWebhook({ ...nothing, ...owner }, { targets: [] }, undefined), isPaused: true };
}

type WebhookRead = { ok: true; webhook: Webhook } | { ok: false; problem: string };

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
    // Control checked the settings against the schema before it sealed them. All entries of the catalog are webhooks: one with
    // other settings needs its own reading here, and its own kind of attempt.
    return { ok: true, webhook: makeWebhook(destination, value as WebhookSettings, before) };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** From settings in clear. */
export function makeWebhook(
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
    order: settings.order ?? 'none',
    maxConcurrency: settings.maxConcurrency,
    maxPerSecond: settings.maxPerSecond,
    isPaused: destination.paused === true,
    isForNewer: false,
    resumedAt: destination.resumedAt === undefined ? 0 : Date.parse(destination.resumedAt),
  };
}

/** The headers that are the same in every POST to a target; those that its owner set come last. */
export function fixedHeaders(own: Readonly<Record<string, string>> = {}): string[] {
  const { userAgent, contentType } = SET_HEADERS;
  return [userAgent, 'Millrace/1.0', contentType, 'application/json', ...Object.entries(own).flat()];
}

/** The headers that each attempt has of its own. */
export function attemptHeaders(
  delivery: Delivery,
  webhook: Webhook,
  { now, body, endsAt }: { now: number; body: string; endsAt: number },
): string[] {
  const headers = signedHeaders(delivery.id, webhook, { now, body });
  headers.push(SET_HEADERS.order, orderOf(delivery));
  headers.push(SET_HEADERS.attempt, String(delivery.attempts + 1), SET_HEADERS.giveUpAt, isoText(endsAt));
  return headers;
}

/** Those that name and sign a POST. Without a secret there are no signatures. */
export function signedHeaders(id: string, webhook: Webhook, { now, body }: { now: number; body: string }): string[] {
  const timestampSeconds = Math.floor(now / 1_000);
  const headers = [SET_HEADERS.id, id, SET_HEADERS.timestamp, String(timestampSeconds)];
  const secrets = secretsOf(webhook, now);
  const [secret] = secrets;
  if (secret !== undefined) {
    const signature = signStandardWebhook(secrets, { id, timestampSeconds, body });
    headers.push(SET_HEADERS.signature, signature, SET_HEADERS.bodySignature, signBody(secret, body));
  }
  return headers;
}

/** The secrets that sign now, the newest first. */
function secretsOf({ secret, previousSecret }: Webhook, now: number): SigningKey[] {
  if (secret === undefined) return [];
  return previousSecret !== undefined && previousSecret.validUntil > now ? [secret, previousSecret.key] : [secret];
}

let lastIso = { ms: 0, text: '' };

/** The events of a batch begin in the same millisecond, and writing a date costs a tenth of their signatures. */
function isoText(ms: number): string {
  if (lastIso.ms !== ms) lastIso = { ms, text: new Date(ms).toISOString() };
  return lastIso.text;
}

/**
 * A forged config entry named another source for this destination, and the event is of that source: it is sent nowhere, and the
 * owner of the destination learns nothing of it.
 */
export function isStranger({ isUndecided, id, event, sourceId }: Delivery, webhook: Webhook): boolean {
  const ownId = deliveryId(webhook.destinationId, sourceId ?? webhook.sourceId, event.messageId);
  return isUndecided === true && id !== ownId;
}
