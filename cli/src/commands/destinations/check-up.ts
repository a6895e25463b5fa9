/** The check-up of a receiver: a few requests, some wrong on purpose, and a graded report. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckUp, Grade } from '@millrace/contract/control';
import type { Command } from 'commander';
import type { Control } from '../../api/control.ts';
import { findDestination } from '../../api/find-named.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { Failure } from '../../output/failures.ts';
import { inline, print, printJson, styled } from '../../output/print.ts';
import { openProgress } from '../../output/progress.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';

const LOOK_EVERY_MS = 300;
const STYLES = { good: 'green', unknown: 'dim', warning: 'yellow', danger: 'red' } as const satisfies Record<
  Grade,
  string
>;

export function checkUpCommand(): Command {
  const command = apiCommand(
    'check-up <destination>',
    'find out whether a receiver verifies signatures and answers in time',
  )
    .option('--target <index>', 'which of its URLs, counted from 0', '0')
    .action(checkUp);
  return withExamples(command, {
    run: 'millrace destinations check-up orders',
    shows: 'each step with its grade and the remedy; exit code 6 for a warning or a danger',
  });
}

async function checkUp(given: string, options: ServerOptions & JsonOption & { target: string }): Promise<void> {
  const control = await connect(options);
  const { id } = await findDestination(control, given);
  await control.ask('POST', `/destinations/${id}/check-up`, { body: { targetIndex: Number(options.target) } });
  const report = await waitForReport(control, id);
  if (options.json) printJson(report);
  else tellReport(report);
  if (report.state === 'failed')
    throw new Failure(inline(report.sentence ?? 'The check-up could not be finished.'), { todo: 'Run it again.' });
  if (report.grade === 'good') return;
  throw new Failure('The check-up found something to change.', { exit: 'findings', todo: 'The steps above say what.' });
}

async function waitForReport(control: Control, id: string): Promise<CheckUp> {
  using progress = openProgress();
  for (;;) {
    const report = await control.ask<CheckUp>('GET', `/destinations/${id}/check-up`);
    if (report.state !== 'running') return report;
    const done = report.steps.filter(({ grade }) => grade !== null).length;
    progress.tell(`Check-up: ${done} of ${report.steps.length} steps done…`);
    await sleep(LOOK_EVERY_MS);
  }
}

function tellReport({ steps, sentence, facts }: CheckUp): void {
  for (const { name, grade, sentence: told, remedy, docs } of steps) {
    print(
      `${styled(STYLES[grade ?? 'unknown'], (grade ?? 'not sent').padEnd(8))}${name.replaceAll('_', ' ')}: ${inline(told ?? '')}`,
    );
    if (remedy !== null) print(`        ${inline(remedy)}${docs === null ? '' : ` (${docs})`}`);
  }
  if (facts?.sentence) print(inline(facts.sentence));
  if (sentence !== null) print(inline(sentence));
}
