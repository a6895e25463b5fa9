import type { EntryVerdict, StoredEntry } from '../../secrets/sign-entry.ts';

/**
 * How the view treats a config entry: `use` it, `keep` the one before, or `hold` the destination as if it were paused. An entry
 * that is not authentic never takes the place of one that is.
 *
 * A destination held this way is unproven until control writes an authentic entry. A source or a user's mark without an
 * authentic predecessor is used all the same: without the source, collect would answer 401; without the mark, events of an erased
 * user would be sent. Nothing is sent anywhere because of them.
 */
export type Judgement = 'use' | 'keep' | 'hold';

export type TrustNeeds = {
  check(entry: StoredEntry): EntryVerdict;
  /** For the time of an upgrade, while a version that signs nothing still writes entries. */
  mayBeUnsigned: boolean;
  /** Whether the view has an entry for this key. */
  isHeld(key: string): boolean;
  isDestination(key: string): boolean;
  refused(key: string, why: Exclude<EntryVerdict, 'authentic'>): void;
  now(): number;
};

export type Trust = {
  judge(entry: StoredEntry): Judgement;
  /**
   * False at a start that found destinations without an authentic entry: after an upgrade control is about to sign them, and
   * deliveries begun meanwhile would all go to lanes. With some of them authentic it does not wait for long.
   */
  isSettled(): boolean;
};

/** Control signs thousands of entries a second: waiting longer does not help. */
const PATIENCE_MS = 60_000;

export function openTrust({ check, mayBeUnsigned, isHeld, isDestination, refused, now }: TrustNeeds): Trust {
  const openedAt = now();
  const unproven = new Set<string>();
  const held = new Set<string>();
  const life = { hasAuthentic: false, isSettled: false };

  const judgeDoubtful = (key: string, isDeletion: boolean): Judgement => {
    if (isHeld(key) && !unproven.has(key)) return 'keep';
    if (isDeletion) {
      unproven.delete(key);
      held.delete(key);
      return 'use';
    }
    unproven.add(key);
    if (!isDestination(key)) return 'use';
    held.add(key);
    return 'hold';
  };

  return {
    judge(entry) {
      const { key, isDeletion } = entry;
      const verdict = check(entry);
      if (verdict === 'authentic' || (verdict === 'unsigned' && mayBeUnsigned)) {
        unproven.delete(key);
        held.delete(key);
        life.hasAuthentic ||= isDestination(key) && !isDeletion;
        return 'use';
      }
      // The mark of something deleted before there were MACs.
      if (!(isDeletion && !isHeld(key))) refused(key, verdict);
      return judgeDoubtful(key, isDeletion);
    },
    isSettled() {
      life.isSettled ||= held.size === 0 || (life.hasAuthentic && now() - openedAt > PATIENCE_MS);
      return life.isSettled;
    },
  };
}
