import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { buildPower } from './build-power.ts';

/** Of the writes that were not synced the disk has nothing, some pages, or some sectors. */
export const CUT_MODES = ['torn', 'part', 'drop'] as const;
export type CutMode = (typeof CUT_MODES)[number];

/** In pages of 4 KiB; a torn page mixes versions. A lost size is that of a file which is not as long as it was. */
export type Losses = {
  filesUnsynced: number;
  pagesUnsynced: number;
  pagesLost: number;
  pagesTorn: number;
  bytesLost: number;
  sizesLost: number;
  namesUnsynced: number;
  namesLost: number;
};

/** A disk that can lose its power, in the memory of a process of its own. */
export type PowerDisk = AsyncDisposable & {
  dir: string;
  /** No file can be used from now on; the same seed loses the same. */
  cut(seed: number, mode: CutMode): Promise<Losses>;
  restore(): Promise<void>;
  /** Everything that was written is on the disk. */
  sync(): Promise<void>;
};

/** Mounts it at this folder. It fails where this process may not mount: a power cut cannot be shown without it. */
export async function openPowerDisk(dir: string): Promise<PowerDisk> {
  mkdirSync(dir, { recursive: true });
  // It unmounts and ends when its input ends, also if this process is killed.
  const child = spawn(buildPower(), [dir], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const nextLine = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`the disk at ${dir} is gone`);
    return value;
  };
  const tell = async (order: string) => {
    child.stdin.write(`${order}\n`);
    const answer = JSON.parse(await nextLine()) as Losses & { error?: string };
    if (answer.error !== undefined) throw new Error(`${order}: ${answer.error}`);
    return answer;
  };
  await nextLine();
  return {
    dir,
    cut: (seed, mode) => tell(`cut ${seed} ${mode}`),
    restore: async () => void (await tell('restore')),
    sync: async () => void (await tell('sync')),
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit');
      child.stdin.end();
      await gone;
    },
  };
}
