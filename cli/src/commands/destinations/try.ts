/** Trying a destination: its URL, and one call to it. */
import type { TestedDestination, UrlCheck } from '@millrace/contract/control';
import { CALL_TYPES } from '@millrace/contract';
import { milliseconds } from '@millrace/console/format/numbers';
import { requestText } from '@millrace/console/curl';
import { localSentence } from '@millrace/console/format/sentences';
import { type Command, Option } from 'commander';
import { findDestination } from '../../api/find-named.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { Failure } from '../../output/failures.ts';
import { indented, inline, print, printJson, styled } from '../../output/print.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';

type Options = ServerOptions & JsonOption;

export function checkUrlCommand(): Command {
  const command = apiCommand(
    'check-url <url>',
    'check a URL step by step from a deliver process; sends nothing',
  ).action(async (url: string, options: Options) => {
    const control = await connect(options);
    const check = await control.ask<UrlCheck>('POST', '/destinations/check-url', { body: { url } });
    if (options.json) printJson(check);
    else {
      for (const { step, ok, detail, ms } of check.steps) {
        const mark = ok ? styled('green', 'ok') : styled('red', 'NO');
        print(`${mark}  ${step.padEnd(8)}${inline(detail)}${ms === undefined ? '' : ` (${milliseconds(ms)})`}`);
      }
      print(inline(check.sentence));
    }
    if (!check.ok) throw new Failure('The URL cannot be used for webhooks.', { exit: 'findings', todo: HINT });
  });
  return withExamples(command, {
    run: 'millrace destinations check-url "$RECEIVER_URL"',
    shows: 'name, address, connection and certificate; exit code 6 when a step fails',
  });
}

const HINT = 'docs/use/trying.md explains each step.';

export function testCommand(): Command {
  const command = apiCommand(
    'test <destination>',
    'send one call, marked as a test, and show the request and the answer',
  )
    .addOption(new Option('--type <type>', 'type of the sample call').choices([...CALL_TYPES, 'delete']))
    .option('--event <json>', 'a call of your own in place of the sample')
    .option('--target <index>', 'which of its URLs, counted from 0', '0')
    .action(test);
  return withExamples(command, {
    run: 'millrace destinations test orders --type track',
    shows: 'the exact request, the answer, and its outcome; exit code 6 unless it was delivered',
  });
}

async function test(
  given: string,
  options: Options & { type?: string; event?: string; target: string },
): Promise<void> {
  const body = {
    targetIndex: Number(options.target),
    ...(options.type === undefined ? {} : { type: options.type }),
    ...(options.event === undefined ? {} : { event: readEvent(options.event) }),
  };
  const control = await connect(options);
  const { id } = await findDestination(control, given);
  const tested = await control.ask<TestedDestination>('POST', `/destinations/${id}/test`, { body });
  if (options.json) printJson(tested);
  else tellTested(tested);
  if (tested.outcome.kind === 'delivered') return;
  throw new Failure('The receiver did not take the test.', { exit: 'findings', todo: HINT });
}

function readEvent(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure('--event is no JSON.', {
      exit: 'usage',
      todo: `Write --event '{"type":"track","userId":"u1","event":"Test"}'.`,
    });
  }
}

function tellTested({ request, answer, outcome }: TestedDestination): void {
  print(indented(requestText(request), styled('dim', '> ')));
  print();
  print(`${inline(localSentence(answer.sentence))} (${milliseconds(answer.timings.totalMs)})`);
  if (answer.body !== null && answer.body !== '') print(indented(answer.body, styled('dim', '< ')));
  print(inline(localSentence(outcome.sentence)));
}
