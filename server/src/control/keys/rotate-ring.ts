import type { Logger } from '../../log.ts';
import type { Store, Tx } from '../../store/open-store.ts';
import { addRepairsToOutbox } from '../../store/outbox.ts';
import {
  isSealedByOthers,
  replaceSealed,
  SEALED_TABLES,
  type SealedRow,
  type SealedTable,
  takeSealedByOthers,
} from '../../store/sealed-values.ts';
import { headOf, type KeyRing } from '../../secrets/seal.ts';
import { resealSettings } from '../../secrets/sealed-settings.ts';
import { pause } from '../../pause.ts';

export type RotationNeeds = {
  store: Store;
  keyRing: KeyRing;
  log: Logger;
  now(): Date;
  /** Resolves with true when every config entry carries a MAC of the new key. */
  signedAnew?(): Promise<boolean>;
};

const BATCH = 500;
const RETRY_MS = 1_000;

/**
 * Reseals with the new key every value that an older key sealed, in the background; ends when none is left.
 * To rotate: put the new key in front of the old one everywhere, so that all processes can open what it seals; then put
 * it last, so that it seals; when the log says ring.rotated, the old key can go.
 */
export function startRotation(needs: RotationNeeds): AsyncDisposable {
  const life = new AbortController();
  const running = keepRotating(needs, life.signal);
  return {
    async [Symbol.asyncDispose]() {
      life.abort();
      await running;
    },
  };
}

async function keepRotating(needs: RotationNeeds, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      if (await rotateRing(needs, signal)) return;
    } catch (error) {
      needs.log.warn({ error: String(error) }, 'ring.rotation_failed');
    }
    await pause(RETRY_MS, signal);
  }
}

/** One pass over all tables; false when a row was locked, or another process sealed with an older key meanwhile. */
export async function rotateRing(needs: RotationNeeds, signal?: AbortSignal): Promise<boolean> {
  const { store, keyRing, log } = needs;
  const head = headOf(keyRing.activeId);
  let count = 0;
  for (const table of SEALED_TABLES) count += await resealTable(table, needs, signal);
  for (const table of SEALED_TABLES) {
    if (await store.asSystem((tx) => isSealedByOthers(tx, table, head))) return false;
  }
  // The old key may go only after that: deliver would refuse entries that it signed.
  if (count > 0 && (await isSignedAnew(needs, signal))) log.info({ keyId: keyRing.activeId, count }, 'ring.rotated');
  return true;
}

/** The end of this process does not wait for it: a cell may be away for long. */
async function isSignedAnew({ signedAnew }: RotationNeeds, signal = new AbortController().signal): Promise<boolean> {
  if (signedAnew === undefined) return true;
  if (signal.aborted) return false;
  const ended = Promise.withResolvers<false>();
  signal.addEventListener('abort', () => ended.resolve(false), { once: true });
  return Promise.race([signedAnew(), ended.promise]);
}

async function resealTable(table: SealedTable, needs: RotationNeeds, signal?: AbortSignal): Promise<number> {
  const head = headOf(needs.keyRing.activeId);
  let total = 0;
  for (let after: readonly [string, string] | undefined = ['', '']; after !== undefined; ) {
    if (signal?.aborted === true) return total;
    const from: readonly [string, string] = after;
    const rows = await needs.store.asSystem(async (tx) => {
      const taken = await takeSealedByOthers(tx, table, { head, after: from, limit: BATCH });
      for (const row of taken) await replaceSealed(tx, table, resealRow(table, row, needs));
      if (table === 'destinations') await tellBucket(tx, taken);
      return taken;
    });
    const last = rows.at(-1);
    total += rows.length;
    if (last !== undefined) needs.log.info({ table, total }, 'ring.resealed');
    after = last === undefined || rows.length < BATCH ? undefined : [last.workspace_id, last.id];
  }
  return total;
}

const COLUMNS = {
  write_keys: 'key_sealed',
  idempotency_keys: 'answer_sealed',
  destinations: 'settings',
  mails: 'content_sealed',
  totp_seeds: 'seed_sealed',
  audit_streams: 'secret_sealed',
  sso_connections: 'client_secret_sealed',
  sso_attempts: 'content_sealed',
} as const;

function resealRow(table: SealedTable, row: SealedRow, { keyRing, now }: RotationNeeds): SealedRow {
  const { workspace_id: workspaceId, id, sealed } = row;
  if (!Buffer.isBuffer(sealed)) {
    const owner = { workspaceId, destinationId: id };
    return { ...row, sealed: resealSettings(sealed, { owner, keyRing, now: now() }) };
  }
  const place = { workspaceId, table, column: COLUMNS[table], rowId: id };
  return { ...row, sealed: keyRing.seal(keyRing.open(sealed, place), place) };
}

/** The config bucket holds sealed values too. They are projected as repairs, so that changes go first. */
async function tellBucket(tx: Tx, rows: SealedRow[]): Promise<void> {
  const repairs = rows.map(
    (row) => ({ kind: 'destination', workspaceId: row.workspace_id, objectId: row.id }) as const,
  );
  if (repairs.length > 0) await addRepairsToOutbox(tx, repairs);
}
