/** A delivery as the console's page tells it: the same sentences, then the attempts and their answers. */
import type { DeliveryDetails, Destination, Lane } from '@millrace/contract/control';
import { HELP, helpCodeOf } from '@millrace/contract/help';
import { eventName } from '@millrace/console/delivery-words';
import { milliseconds } from '@millrace/console/format/numbers';
import { answerSentence, tellDelivery } from '@millrace/console/tell-delivery';
import { standingOf } from '@millrace/console/format/standings';
import { indented, inline, print, styled } from '../../output/print.ts';
import { stateStyle } from '../../output/states.ts';
import { printFacts } from '../../output/table.ts';
import { timeText, timeWithDistance } from '../../output/times.ts';

type Page = { delivery: DeliveryDetails; destination: Destination | undefined; lane: Lane | null; now: number };

const MOST_BODY_CHARS = 2_000;

export function tellDeliveryPage({ delivery, destination, lane, now }: Page): void {
  const told = tellDelivery({ delivery, lane, now });
  print(`${styled(['bold', stateStyle(told.state)], told.lead)} ${inline(told.sentence)}`);
  if (told.after !== '') print(inline(told.after));
  if (delivery.isErased) print('Its user was erased. Millrace no longer keeps the ids of the user and the answers.');
  print();
  const { type, name, userId, anonymousId, receivedAt, id, messageId, destinationId, replayId } = delivery;
  printFacts([
    ['Event', name === null ? eventName(delivery) : `${eventName(delivery)} (${type})`],
    ['User', userId ?? anonymousId ?? 'none'],
    ['Received', timeWithDistance(receivedAt)],
    ['webhook-id', id],
    ['messageId', messageId],
    ['Destination', destination === undefined ? destinationId : `${destination.name} (${destinationId})`],
    ['Sent again by', replayId ?? undefined],
  ]);
  for (const [place, attempt] of delivery.history.entries()) tellAttempt(attempt, place, now);
  tellHelp(delivery);
}

function tellAttempt(attempt: DeliveryDetails['history'][number], place: number, now: number): void {
  print();
  const { state, word } = standingOf(attempt.outcome);
  print(`Attempt ${place + 1} at ${timeText(attempt.at)}: ${styled(stateStyle(state), word)}`);
  for (const answer of attempt.answers) {
    const address = answer.address === undefined ? '' : ` (${answer.address})`;
    print(`  POST ${inline(answer.url)}${inline(address)}`);
    print(`    ${inline(answerSentence(answer, now))} ${milliseconds(answer.timings.totalMs)}`);
    if (answer.body) print(styled('dim', indented(answer.body.slice(0, MOST_BODY_CHARS), '    | ')));
  }
}

/** Explains the code of the last error, unless the delivery arrived. */
function tellHelp({ state, errorClass }: DeliveryDetails): void {
  const code = errorClass === null ? undefined : helpCodeOf(errorClass);
  if (code === undefined || state === 'delivered') return;
  const { title, cause, remedy } = HELP[code];
  print();
  print(`${styled('bold', `${title}.`)} ${cause}`);
  print(remedy);
}
