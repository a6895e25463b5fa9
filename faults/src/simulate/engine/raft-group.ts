/**
 * The replicas of one stream or durable consumer. A group has a leader, or it elects one: at first no server answers (the dead leader's
 * peers have not noticed), then the servers say that there is none, then another server leads. Writes are applied in the order in which
 * they were proposed. A write under way when the leader is lost is applied without an answer, or not at all.
 */
import type { Random } from '../../seeded-random.ts';
import type { VirtualClock, VirtualProcess } from '../clock/virtual-clock.ts';

export type RaftGroup = {
  name: string;
  leader(): number | undefined;
  /** Whether the group says nothing at all; else the servers say that there is no leader. */
  isSilent(): boolean;
  /** Applies a write when a majority has it. The function that it returns is called when the answer can go out. */
  propose(apply: () => (() => void) | undefined): void;
  /** The leader is gone: another one leads after this time. */
  elect(silentMs: number, totalMs: number): void;
};

export type GroupNeeds = {
  clock: VirtualClock;
  process: VirtualProcess;
  random: Random;
  /** The servers that are up. */
  up(): number[];
  /** How long a write takes, in milliseconds. */
  commitMs(): number;
  elected(): void;
};

const RETRY_ELECTION_MS = 1_000;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openRaftGroup(name: string, needs: GroupNeeds): RaftGroup {
  const { clock, process, random, up, commitMs, elected } = needs;
  let leader = pickServer();
  let epoch = 0;
  let isSilent = false;
  let lastCommit = 0;

  function pickServer(): number | undefined {
    const [first, ...others] = up();
    return first === undefined ? undefined : random.pick([first, ...others]);
  }

  function after(delayMs: number, run: () => void): void {
    const inEpoch = epoch;
    clock.after(delayMs, process, () => {
      if (epoch === inEpoch) run();
    });
  }

  /** Two of three servers are a majority. */
  function finish(): void {
    leader = up().length >= 2 ? pickServer() : undefined;
    isSilent = false;
    if (leader === undefined) after(RETRY_ELECTION_MS, finish);
    else elected();
  }

  return {
    name,
    leader: () => leader,
    isSilent: () => isSilent,
    propose(apply) {
      lastCommit = Math.max(lastCommit, clock.now() + commitMs());
      after(lastCommit - clock.now(), () => {
        const answer = apply();
        if (answer !== undefined) after(random.between(0, 1), answer);
      });
    },
    elect(silentMs, totalMs) {
      epoch += 1;
      leader = undefined;
      isSilent = true;
      after(silentMs, () => (isSilent = false));
      after(totalMs, finish);
    },
  };
}
