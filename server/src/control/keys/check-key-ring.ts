import { openStore, type Store, type Tx } from '../../store/open-store.ts';
import { deleteCanary, insertCanary, listCanaries } from '../../store/key-ring.ts';
import { countSealedBy } from '../../store/sealed-values.ts';
import { headOf, type KeyRing, openKeyRing } from '../../secrets/seal.ts';

const CANARY_TEXT = 'this key opens';

/**
 * Checks, before any value is sealed or opened, that every key the database knows is in the ring and is the same key. Throws
 * with the remedy if not: otherwise the first sign would be a secret that does not open when it is needed.
 */
export function checkKeyRing(store: Store, keyRing: KeyRing): Promise<void> {
  return store.asSystem(async (tx) => {
    for (const { key_id: id, canary } of await listCanaries(tx)) {
      if (keyRing.ids.includes(id)) mustOpen(keyRing, id, canary);
      else await mustBeUnused(tx, id);
    }
    for (const id of keyRing.ids) {
      await insertCanary(tx, { keyId: id, canary: keyRing.sealWith(id, CANARY_TEXT, placeOf(id)) });
    }
  });
}

/** The same question without any change: why the ring does not fit the database, or undefined. */
export async function findKeyProblem(
  databaseUrl: string,
  keys: ReadonlyMap<number, Buffer>,
): Promise<string | undefined> {
  await using store = await openStore(databaseUrl);
  const keyRing = openKeyRing(keys);
  try {
    await store.asSystem(async (tx) => {
      for (const { key_id: id, canary } of await listCanaries(tx)) {
        if (keyRing.ids.includes(id)) mustOpen(keyRing, id, canary);
        else await countedAsUnused(tx, id);
      }
    });
    return undefined;
  } catch (error) {
    if (error instanceof KeyProblem) return error.message;
    throw error;
  }
}

class KeyProblem extends Error {}

function mustOpen(keyRing: KeyRing, id: number, canary: Buffer): void {
  try {
    keyRing.open(canary, placeOf(id));
  } catch (error) {
    throw new KeyProblem(
      `key ${id} in MILLRACE_KEYS is not the key ${id} that sealed values here: put the old one back`,
      {
        cause: error,
      },
    );
  }
}

async function mustBeUnused(tx: Tx, id: number): Promise<void> {
  await countedAsUnused(tx, id);
  await deleteCanary(tx, id);
}

async function countedAsUnused(tx: Tx, id: number): Promise<void> {
  const count = await countSealedBy(tx, headOf(id));
  if (count > 0) {
    throw new KeyProblem(
      `key ${id} is not in MILLRACE_KEYS, but ${count} rows are sealed with it: put it back in front of the others, and leave it out after the log has said ring.rotated`,
    );
  }
}

function placeOf(id: number) {
  return { workspaceId: '', table: 'key_ring', column: 'canary', rowId: String(id) };
}
