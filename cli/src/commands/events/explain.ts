/** `millrace explain`: why an event did or did not reach each destination. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Explanation } from '@millrace/contract/control';
import { localSentence } from '@millrace/console/format/sentences';
import type { Command } from 'commander';
import type { Control } from '../../api/control.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { Failure } from '../../output/failures.ts';
import { inline, print, printJson } from '../../output/print.ts';
import { openProgress } from '../../output/progress.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';

const LOOK_EVERY_MS = 300;
const PATIENCE_MS = 60_000;

export function explainCommand(): Command {
  const command = apiCommand('explain <messageId>', 'tell the story of an event: accepted or not, and each destination')
    .option('--wait', 'wait until the record knows the event and every destination has answered once')
    .action(explain);
  return withExamples(command, {
    run: 'millrace explain order-1001 --wait',
    shows: 'why the event reached each destination or did not; exit code 4 when no record of it exists',
  });
}

async function explain(messageId: string, options: ServerOptions & JsonOption & { wait?: true }): Promise<void> {
  const control = await connect(options);
  const story = options.wait ? await waitForStory(control, messageId) : await readStory(control, messageId);
  if (options.json) printJson(story);
  else tellStory(story);
  if (story.verdict !== 'unknown') return;
  throw new Failure('There is no record of this event.', {
    exit: 'notFound',
    todo: 'Check the messageId. The record is about a second behind, and ends with MILLRACE_RECORD_RETENTION.',
  });
}

function readStory(control: Control, messageId: string): Promise<Explanation> {
  return control.ask<Explanation>('GET', `/events/${encodeURIComponent(messageId)}/explain`);
}

export function tellStory({ story }: Explanation): void {
  for (const sentence of story) print(inline(localSentence(sentence)));
}

/** A delivery behind an open circuit breaker, or of a paused destination, may wait for hours: that is its story for now. */
function isOnItsWay({ state, attempts, lane }: Explanation['destinations'][number]): boolean {
  const isHeld = lane !== null && lane.state !== 'waiting' && lane.state !== 'draining';
  return state === 'pending' && attempts === 0 && !isHeld;
}

/** Every destination has answered once, holds the event back, or will not get it. */
export async function waitForStory(control: Control, messageId: string): Promise<Explanation> {
  using progress = openProgress();
  const endsAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const story = await readStory(control, messageId);
    const waiting = story.destinations.filter(isOnItsWay);
    const isSettled = story.verdict !== 'unknown' && waiting.length === 0;
    if (isSettled || Date.now() > endsAt) return story;
    progress.tell(
      story.verdict === 'unknown' ? 'Waiting for the record…' : `Waiting for ${waiting.length} destinations…`,
    );
    await sleep(LOOK_EVERY_MS);
  }
}
