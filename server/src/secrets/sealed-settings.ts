import type { CatalogEntry } from '@millrace/contract/control';
import type { KeyRing, Place } from './seal.ts';
import { isObject, mapSecrets, rootPlace, type SettingPlace, type SettingSchema } from './walk-settings.ts';

/** Settings that keep to their schema: secrets in clear, or at the paths in `kept`, those that are stored already. */
export type Settings = { value: Record<string, unknown>; kept: ReadonlyMap<string, unknown> };
/** A secret as the row has it. The previous one still signs until its time is over. */
export type SealedSecret = { sealed: string; previous?: { sealed: string; validUntil: string } };
export type SettingsOwner = { workspaceId: string; destinationId: string };
export type OpenSettings = {
  value: Record<string, unknown>;
  /** Secrets replaced not long ago that are still valid, by path. */
  previous: Map<string, { value: string; validUntil: Date }>;
};
type Sealing = { owner: SettingsOwner; keyRing: KeyRing };

export function sealSettings(entry: CatalogEntry, settings: Settings, sealing: Sealing): Record<string, unknown> {
  return mapped(entry, settings.value, (place, secret) => {
    const { path } = place;
    return settings.kept.has(path) ? settings.kept.get(path) : { sealed: sealText(place, String(secret), sealing) };
  });
}

/** The settings as the API shows them: of a secret only that it is set. */
export function hideSettings(entry: CatalogEntry, stored: Record<string, unknown>): Record<string, unknown> {
  return mapped(entry, stored, () => ({ set: true }));
}

export function openSettings(entry: CatalogEntry, stored: Record<string, unknown>, sealing: Sealing): OpenSettings {
  const previous: OpenSettings['previous'] = new Map();
  const value = mapped(entry, stored, (place, each) => {
    const secret = asSealed(each, place);
    if (secret.previous !== undefined) {
      const validUntil = new Date(secret.previous.validUntil);
      previous.set(place.path, { value: openText(place, secret.previous.sealed, sealing), validUntil });
    }
    return openText(place, secret.sealed, sealing);
  });
  return { value, previous };
}

export type NewSecret = { text: string; previousValidUntil: Date | undefined };

/** Replaces the secret; the previous one stays beside it while it remains valid. */
export function rotateSecret(
  name: string,
  stored: Record<string, unknown>,
  { text, previousValidUntil, ...sealing }: NewSecret & Sealing,
): { settings: Record<string, unknown>; hasPrevious: boolean } {
  const sealed = sealText({ column: `settings.${name}` }, text, sealing);
  const before = stored[name];
  if (!isSealed(before) || previousValidUntil === undefined) {
    return { settings: { ...stored, [name]: { sealed } }, hasPrevious: false };
  }
  const previous = { sealed: before.sealed, validUntil: previousValidUntil.toISOString() };
  return { settings: { ...stored, [name]: { sealed, previous } }, hasPrevious: true };
}

/** The setting that the schema marks as rotating. */
export function rotatingSetting({ settings }: CatalogEntry): string | undefined {
  const schemas: Record<string, SettingSchema> = settings.properties;
  return Object.keys(schemas).find((name) => schemas[name]?.rotates === true);
}

/**
 * Reseals values that an older key sealed, and drops expired previous secrets. Goes by the form of sealed values, not
 * by a schema: it must find all of them, also those of an entry that has left the catalog.
 */
export function resealSettings(
  stored: Record<string, unknown>,
  sealing: Sealing & { now: Date },
): Record<string, unknown> {
  return resealValue(stored, 'settings', sealing) as Record<string, unknown>;
}

function resealValue(value: unknown, column: string, sealing: Sealing & { now: Date }): unknown {
  if (Array.isArray(value)) return value.map((each) => resealValue(each, column, sealing));
  if (!isObject(value)) return value;
  if (!isSealed(value)) {
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([name, each]) => [name, resealValue(each, `${column}.${name}`, sealing)]));
  }
  const { sealed, previous } = value;
  const anew = (text: string) => resealText({ column }, text, sealing);
  if (previous === undefined || new Date(previous.validUntil) <= sealing.now) return { sealed: anew(sealed) };
  return { sealed: anew(sealed), previous: { ...previous, sealed: anew(previous.sealed) } };
}

function resealText(place: Pick<SettingPlace, 'column'>, sealed: string, sealing: Sealing): string {
  const { keyRing } = sealing;
  if (keyRing.keyIdOf(Buffer.from(sealed, 'base64')) === keyRing.activeId) return sealed;
  return sealText(place, openText(place, sealed, sealing), sealing);
}

function mapped(
  { settings }: CatalogEntry,
  value: Record<string, unknown>,
  replace: (place: SettingPlace, value: unknown) => unknown,
): Record<string, unknown> {
  return mapSecrets(rootPlace(settings), value, replace) as Record<string, unknown>;
}

function sealText(place: Pick<SettingPlace, 'column'>, text: string, { owner, keyRing }: Sealing): string {
  return keyRing.seal(text, sealPlace(place, owner)).toString('base64');
}

function openText(place: Pick<SettingPlace, 'column'>, sealed: string, { owner, keyRing }: Sealing): string {
  return keyRing.open(Buffer.from(sealed, 'base64'), sealPlace(place, owner));
}

function sealPlace({ column }: Pick<SettingPlace, 'column'>, { workspaceId, destinationId }: SettingsOwner): Place {
  return { workspaceId, table: 'destinations', column, rowId: destinationId };
}

function asSealed(value: unknown, { path }: SettingPlace): SealedSecret {
  if (!isSealed(value)) throw new Error(`the stored setting ${path} is not sealed`);
  return value;
}

function isSealed(value: unknown): value is SealedSecret {
  return isObject(value) && typeof value['sealed'] === 'string';
}
