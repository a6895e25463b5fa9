/** The settings of a destination: validated by the catalog's schema, sealed by the key ring, stored in the row. */
import { randomBytes } from 'node:crypto';
import type { CatalogEntry } from '@millrace/contract/control';
import type { Networks } from '../../http/address-policy.ts';
import type { KeyRing } from '../../secrets/seal.ts';
import type { DestinationRow } from '../../store/destinations.ts';
import { entryNamed } from './entry-named.ts';
import { ApiProblem } from '../problems/problems.ts';
import { readSettings } from './read-settings.ts';
import {
  hideSettings,
  rotateSecret,
  rotatingSetting,
  sealSettings,
  type SettingsOwner,
} from '../../secrets/sealed-settings.ts';

export type SettingsNeeds = {
  catalog: readonly CatalogEntry[];
  keyRing: KeyRing;
  networks: Networks;
  now(): Date;
};
type Stored = Record<string, unknown>;
type Checking = { owner: SettingsOwner; needs: SettingsNeeds; stored?: Stored };

const HOUR_MS = 3_600_000;

/** The settings, sealed and ready to be stored; throws a problem that lists every mistake in them. */
export function checkedSettings(entry: CatalogEntry, given: unknown, { owner, needs, stored }: Checking): Stored {
  const { networks, keyRing } = needs;
  const read = readSettings(entry, given, stored === undefined ? { networks } : { networks, stored });
  if (!read.ok) {
    const errors = read.errors.map(({ path, message }) => ({ path: `/settings${path === '/' ? '' : path}`, message }));
    throw new ApiProblem('invalid_request', errors);
  }
  return sealSettings(entry, read.settings, { owner, keyRing });
}

export function changedSettings(row: DestinationRow, change: Stored, needs: SettingsNeeds): Stored {
  const entry = entryNamed(needs.catalog, row.catalog);
  const merged = Object.entries({ ...hideSettings(entry, row.settings), ...change });
  const given = Object.fromEntries(merged.filter(([, value]) => value !== null));
  return checkedSettings(entry, given, { owner: ownerOf(row), needs, stored: row.settings });
}

type Rotation = { sharedSecret?: string; overlapHours?: number };

/** `newSecret` is set when the request named none and the server made one: the answer shows it once. */
export function newSecretSettings(
  row: DestinationRow,
  { sharedSecret, overlapHours = 24 }: Rotation,
  needs: SettingsNeeds,
) {
  const name = checkedSecretName(row, sharedSecret, needs);
  const newSecret = sharedSecret === undefined ? makeWebhookSecret() : undefined;
  const until = overlapHours === 0 ? undefined : new Date(needs.now().getTime() + overlapHours * HOUR_MS);
  const { settings, hasPrevious } = rotateSecret(name, row.settings, {
    text: sharedSecret ?? newSecret ?? '',
    previousValidUntil: until,
    owner: ownerOf(row),
    keyRing: needs.keyRing,
  });
  return { settings, newSecret, previousUntil: hasPrevious ? until : undefined };
}

function checkedSecretName(row: DestinationRow, secret: string | undefined, needs: SettingsNeeds): string {
  const entry = entryNamed(needs.catalog, row.catalog);
  const name = rotatingSetting(entry);
  const refuse = (message: string) => new ApiProblem('invalid_request', [{ path: '/sharedSecret', message }]);
  if (name === undefined) throw refuse(`is nothing that ${entry.name} has`);
  if (secret === undefined) return name;
  const { networks } = needs;
  const read = readSettings(entry, { ...row.settings, [name]: secret }, { networks, stored: row.settings });
  // Only the secret is judged: a setting that became invalid, such as a URL in a denied network, must not block a rotation.
  const error = read.ok ? undefined : read.errors.find(({ path }) => path === `/${name}`);
  if (error !== undefined) throw refuse(error.message);
  return name;
}

/** As the API shows them: of a secret only that it is set. */
export function shownSettings(row: DestinationRow, catalog: readonly CatalogEntry[]): Stored {
  const entry = catalog.find(({ name }) => name === row.catalog);
  // Without its catalog entry it is unknown which settings are secret.
  return entry === undefined ? {} : hideSettings(entry, row.settings);
}

function ownerOf(row: DestinationRow): SettingsOwner {
  return { workspaceId: row.workspace_id, destinationId: row.id };
}

/** The form that Standard Webhooks libraries expect. */
function makeWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
