import type { Store, Tx } from '../../store/open-store.ts';
import { deleteCanary, insertCanary, listCanaries } from '../../store/key-ring.ts';
import { countSealedBy } from '../../store/sealed-values.ts';
import { headOf, type KeyRing } from '../../secrets/seal.ts';

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

function mustOpen(keyRing: KeyRing, id: number, canary: Buffer): void {
  try {
    keyRing.open(canary, placeOf(id));
  } catch (error) {
    throw new Error(`key ${id} in MILLRACE_KEYS is not the key ${id} that sealed values here: put the old one back`, {
      cause: error,
    });
  }
}

async function mustBeUnused(tx: Tx, id: number): Promise<void> {
  const count = await countSealedBy(tx, headOf(id));
  if (count > 0) {
    throw new Error(
      `key ${id} is not in MILLRACE_KEYS, but ${count} rows are sealed with it: put it back in front of the others, and leave it out after the log has said ring.rotated`,
    );
  }
  await deleteCanary(tx, id);
}

function placeOf(id: number) {
  return { workspaceId: '', table: 'key_ring', column: 'canary', rowId: String(id) };
}
