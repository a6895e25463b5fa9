/** How a destination is doing, and an attempt now. */
import type { AttemptNow, DestinationHealth } from '@millrace/contract/control';
import { shortWords } from '@millrace/console/format/codes';
import { count, counted, milliseconds } from '@millrace/console/format/numbers';
import { localSentence } from '@millrace/console/format/sentences';
import type { Command } from 'commander';
import { findDestination } from '../../api/find-named.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { inline, print, printJson } from '../../output/print.ts';
import { printFacts } from '../../output/table.ts';
import { timeWithDistance } from '../../output/times.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';

type Options = ServerOptions & JsonOption;

export function healthCommand(): Command {
  const command = apiCommand(
    'health <destination>',
    'tell how a destination is doing: a sentence, figures, what waits',
  ).action(async (given: string, options: Options) => {
    const control = await connect(options);
    const { id } = await findDestination(control, given);
    const health = await control.ask<DestinationHealth>('GET', `/destinations/${id}/health`);
    if (options.json) return printJson(health);
    tellHealth(health);
  });
  return withExamples(command, { run: 'millrace destinations health orders', shows: 'how it stands, and why' });
}

function tellHealth({ sentence, lastHour, lastDay, latencyMs, errorClasses, lane }: DestinationHealth): void {
  print(inline(localSentence(sentence)));
  print();
  const { p50, p95, p99 } = latencyMs;
  printFacts([
    ['Last hour', countsText(lastHour)],
    ['Last day', countsText(lastDay)],
    [
      'Latency',
      p50 === null || p95 === null || p99 === null
        ? undefined
        : `p50 ${milliseconds(p50)}, p95 ${milliseconds(p95)}, p99 ${milliseconds(p99)}`,
    ],
    ...errorClasses.map(
      ({ errorClass, count: times }, at) =>
        [at === 0 ? 'Errors' : '', `${shortWords(errorClass)}: ${count(times)}`] as const,
    ),
    ['Waiting', lane === null ? undefined : `${counted(lane.depth, 'delivery', 'deliveries')}, lane ${lane.state}`],
    ['Next attempt', lane === null || lane.nextAt === null ? undefined : timeWithDistance(lane.nextAt)],
  ]);
}

function countsText(counts: DestinationHealth['lastHour']): string {
  const { delivered, retry, discarded, expired, skipped } = counts;
  const parts = [`${count(delivered)} delivered`, `${count(retry)} retried`, `${count(discarded + expired)} given up`];
  return [...parts, `${count(skipped)} skipped`].join(', ');
}

export function probeCommand(): Command {
  const command = apiCommand(
    'probe <destination>',
    'attempt the next waiting delivery now, also while the breaker is open',
  ).action(async (given: string, options: Options) => {
    const control = await connect(options);
    const { id } = await findDestination(control, given);
    const answer = await control.ask<AttemptNow>('POST', `/destinations/${id}/probe`);
    if (options.json) return printJson(answer);
    print(inline(localSentence(answer.sentence)));
  });
  return withExamples(command, { run: 'millrace destinations probe failing', shows: 'what deliver does now' });
}
