import type { KeyRing } from '../../secrets/seal.ts';

export function sealSeed(keyRing: KeyRing, id: string, seed: Buffer): Buffer {
  return keyRing.seal(seed.toString('base64'), placeOf(id));
}

export function openSeed(keyRing: KeyRing, { id, seed_sealed }: { id: string; seed_sealed: Buffer }): Buffer {
  return Buffer.from(keyRing.open(seed_sealed, placeOf(id)), 'base64');
}

function placeOf(id: string) {
  return { workspaceId: '', table: 'totp_seeds', column: 'seed_sealed', rowId: id };
}
