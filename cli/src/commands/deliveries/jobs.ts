/** Long work that the server does: how it stands, and waiting for its end with progress. */
import { setTimeout as sleep } from 'node:timers/promises';
import process from 'node:process';
import { count, counted } from '@millrace/console/format/numbers';
import { skipWords } from '@millrace/console/format/standings';
import type { Command } from 'commander';
import type { Control } from '../../api/control.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { Failure } from '../../output/failures.ts';
import { inline, print, printJson, remark } from '../../output/print.ts';
import { openProgress } from '../../output/progress.ts';
import { printFacts, printTable } from '../../output/table.ts';
import { timeText } from '../../output/times.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';

export type Job = {
  id: string;
  state: string;
  progress: { done: number; total: number | null; skipped: Record<string, number> };
  problem: string | null;
  createdAt: string;
  updatedAt: string;
  endedAt: string | null;
};

/** A kind of job: its path in the API and its words. */
export type JobKind = { path: string; word: string; command: string; example: string };

const LOOK_EVERY_MS = 500;
type Options = ServerOptions & JsonOption;

/** Ctrl-C ends the waiting, and not the job. */
export async function waitForJob<Waited extends Job>(
  control: Control,
  { path, word, command }: JobKind,
  id: string,
): Promise<Waited> {
  using progress = openProgress();
  let isStopped = false;
  const stop = () => void (isStopped = true);
  process.once('SIGINT', stop);
  try {
    for (;;) {
      const job = await control.ask<Waited>('GET', `${path}/${encodeURIComponent(id)}`);
      if (job.state !== 'running') return job;
      if (isStopped) {
        throw new Failure(`The ${word} goes on without this command.`, {
          exit: 'interrupted',
          todo: `Look again with millrace ${command} ${id}.`,
        });
      }
      progress.tell(`${progressText(job)}${job.problem === null ? '' : ` (${inline(job.problem)})`}`);
      await sleep(LOOK_EVERY_MS);
    }
  } finally {
    process.off('SIGINT', stop);
  }
}

function progressText({ state, progress: { done, total } }: Job): string {
  if (total === null) return `${state}: counting, ${count(done)} done`;
  const share = total === 0 ? 100 : Math.floor((done / total) * 100);
  return `${state}: ${count(done)} of ${count(total)} (${share} %)`;
}

/** Prints the job, and fails when it has. */
export function tellJob(job: Job, { word }: JobKind, options: JsonOption): void {
  if (options.json) printJson(job);
  else {
    printFacts([
      [`The ${word}`, job.id],
      ['State', progressText(job)],
      ['Skipped', skippedText(job.progress.skipped)],
      ['Problem', job.problem ?? undefined],
      ['Started', timeText(job.createdAt)],
      ['Ended', job.endedAt === null ? undefined : timeText(job.endedAt)],
    ]);
  }
  if (job.state === 'failed')
    throw new Failure(`The ${word} has failed: ${inline(job.problem ?? 'no reason is known')}`, {
      todo: 'Mend the cause, and start it again.',
    });
}

export function skippedText(skipped: Record<string, number>): string | undefined {
  const parts = Object.entries(skipped).map(([reason, times]) => `${count(times)} because ${skipWords(reason)}`);
  return parts.length === 0 ? undefined : parts.join('; ');
}

export function jobCommands(kind: JobKind): Command[] {
  const { word, command, example } = kind;
  const show = apiCommand(`show <${word}>`, `show a ${word} with its progress`).action(
    async (id: string, options: Options) => {
      const control = await connect(options);
      const job = await control.ask<Job>('GET', `${kind.path}/${encodeURIComponent(id)}`);
      tellJob(job, kind, options);
    },
  );
  const watch = apiCommand(`watch <${word}>`, `wait for the end of a ${word}, with its progress`).action(
    async (id: string, options: Options) => {
      tellJob(await waitForJob(await connect(options), kind, id), kind, options);
    },
  );
  return [
    withExamples(show, {
      run: `millrace ${command} show "${example}"`,
      shows: 'its state, progress and what was skipped',
    }),
    withExamples(watch, {
      run: `millrace ${command} watch "${example}"`,
      shows: 'progress until it ends; Ctrl-C leaves it running',
    }),
    ...(['pause', 'resume', 'cancel'] as const).map((step) => stepCommand(kind, step)),
  ];
}

function stepCommand(kind: JobKind, step: 'pause' | 'resume' | 'cancel'): Command {
  const { path, word, command } = kind;
  const made = apiCommand(`${step} <${word}>`, `${step} a ${word}, within two seconds`).action(
    async (id: string, options: Options) => {
      const control = await connect(options);
      const job = await control.ask<Job>('POST', `${path}/${encodeURIComponent(id)}/${step}`);
      tellJob(job, kind, options);
    },
  );
  return withExamples(made, { run: `millrace ${command} ${step} "${RUNNING[step]}"`, shows: 'its new state' });
}

/** The variables that the examples stand for: a job that runs, or one that is paused. */
const RUNNING = { pause: '$RUNNING_JOB', resume: '$PAUSED_JOB', cancel: '$RUNNING_JOB' } as const;

export function listJobs(
  kind: JobKind,
  columns: readonly { title: string; of(job: Job): string }[],
  words: string,
): Command {
  const command = apiCommand('list', `list the ${kind.word}s of the workspace, newest first`).action(
    async (options: Options) => {
      const control = await connect(options);
      const items = await Array.fromAsync(control.list<Job>(kind.path, {}, 100));
      if (options.json) return printJson({ items });
      const all = [
        { title: 'ID', of: ({ id }: Job) => id, isWhole: true as const },
        { title: 'PROGRESS', of: progressText },
        ...columns,
        { title: 'STARTED', of: ({ createdAt }: Job) => timeText(createdAt) },
      ];
      printTable(all, items, words);
      if (items.length === 100) remark('The newest 100.');
    },
  );
  return withExamples(command, { run: `millrace ${kind.command} list`, shows: 'each one with its progress' });
}

export function tellStarted(job: Job, { word, command }: JobKind, total: number): void {
  print(
    `The ${word} ${job.id} has started for ${counted(total, 'event')}. Follow it with millrace ${command} watch ${job.id}.`,
  );
}
