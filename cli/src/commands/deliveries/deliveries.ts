/** `millrace deliveries`: the record of what was sent, and how it ended. */
import type {
  Delivery,
  DeliveryDetails,
  Destination,
  DestinationHealth,
  RebuiltRequest,
  RetryNow,
} from '@millrace/contract/control';
import { curlOf } from '@millrace/console/curl';
import { deliveryWords, eventName } from '@millrace/console/delivery-words';
import { localSentence } from '@millrace/console/format/sentences';
import { standingOf } from '@millrace/console/format/standings';
import { type Command, Option } from 'commander';
import type { Control } from '../../api/control.ts';
import { findDestination, findSource } from '../../api/find-named.ts';
import { Refusal } from '../../api/problems.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { indented, inline, print, printJson } from '../../output/print.ts';
import { stateStyle } from '../../output/states.ts';
import { printTable } from '../../output/table.ts';
import { readTime, timeText } from '../../output/times.ts';
import { apiCommand, groupCommand, type JsonOption } from '../api-command.ts';
import { readCount } from '../read-count.ts';
import { tellDeliveryPage } from './tell-delivery-page.ts';

type Options = ServerOptions & JsonOption;

export const STATES = ['pending', 'retrying', 'delivered', 'discarded', 'expired', 'skipped'] as const;

export function deliveriesCommand(): Command {
  const group = groupCommand('deliveries', 'look up what was sent to destinations, and how it ended', [
    showCommand(),
    retryCommand(),
  ]);
  return group.addCommand(listCommand(), { isDefault: true });
}

type ListOptions = Options & {
  destination?: string;
  source?: string;
  state?: string;
  error?: string;
  since?: string;
  until?: string;
  user?: string;
  event?: string;
  messageId?: string;
  limit: string;
};

function listCommand(): Command {
  const command = apiCommand('list', 'list deliveries, newest first')
    .option('--destination <name>', 'only to this destination')
    .option('--source <name>', 'only events of this source')
    .addOption(new Option('--state <state>', 'only in this state').choices([...STATES]))
    .option('--error <class>', 'only with this last error, such as http_503 or timeout')
    .option('--since <time>', 'received at or after: a time, or a distance such as 1h or 7d')
    .option('--until <time>', 'received before')
    .option('--user <id>', 'only events of this user')
    .option('--event <name>', 'only this track event, page or screen')
    .option('--message-id <id>', 'only this event')
    .option('--limit <count>', 'at most so many', '50')
    .action(list);
  return withExamples(command, {
    run: 'millrace deliveries list --state retrying --since 1h',
    shows: 'what is being retried, with the last answer and the next attempt',
  });
}

async function list(options: ListOptions): Promise<void> {
  const most = readCount('--limit', options.limit);
  const control = await connect(options);
  const query = {
    destinationId:
      options.destination === undefined ? undefined : (await findDestination(control, options.destination)).id,
    sourceId: options.source === undefined ? undefined : (await findSource(control, options.source)).id,
    state: options.state,
    errorClass: options.error,
    from: options.since === undefined ? undefined : readTime(options.since, '--since'),
    to: options.until === undefined ? undefined : readTime(options.until, '--until'),
    userId: options.user,
    event: options.event,
    messageId: options.messageId,
  };
  const items = await Array.fromAsync(control.list<Delivery>('/deliveries', query, most));
  if (options.json) return printJson({ items });
  const destinations = await Array.fromAsync(control.list<Destination>('/destinations'));
  const names = new Map(destinations.map(({ id, name }) => [id, name]));
  const columns = [
    { title: 'ID', of: ({ id }: Delivery) => id, isWhole: true as const },
    { title: 'RECEIVED', of: ({ receivedAt }: Delivery) => timeText(receivedAt) },
    { title: 'EVENT', of: eventName },
    { title: 'USER', of: ({ userId, anonymousId }: Delivery) => userId ?? anonymousId ?? '' },
    { title: 'DESTINATION', of: ({ destinationId }: Delivery) => names.get(destinationId) ?? destinationId },
    { title: 'STATE', of: deliveryWords, style: ({ state }: Delivery) => stateStyle(standingOf(state).state) },
    { title: 'ATTEMPTS', of: ({ attempts }: Delivery) => String(attempts), isNumber: true as const },
    { title: 'NEXT', of: ({ nextAt }: Delivery) => timeText(nextAt) },
  ];
  printTable(columns, items, 'No delivery matches. The record is about a second behind.');
  if (items.length === most) print(`The newest ${most}. --limit shows more.`);
}

function showCommand(): Command {
  const command = apiCommand('show <delivery>', 'tell how a delivery stands, with every attempt, as the console does')
    .option('--curl', 'print the request of the latest attempt as a curl command instead')
    .action(async (id: string, options: Options & { curl?: true }) => {
      const control = await connect(options);
      if (options.curl) return showRequest(control, id, options);
      const delivery = await control.ask<DeliveryDetails>('GET', `/deliveries/${encodeURIComponent(id)}`);
      if (options.json) return printJson(delivery);
      const isOpen = delivery.state === 'pending' || delivery.state === 'retrying';
      const health = isOpen
        ? await perhaps<DestinationHealth>(control, `/destinations/${delivery.destinationId}/health`)
        : undefined;
      const destination = await perhaps<Destination>(control, `/destinations/${delivery.destinationId}`);
      tellDeliveryPage({ delivery, destination, lane: health?.lane ?? null, now: Date.now() });
    });
  return withExamples(
    command,
    { run: 'millrace deliveries show "$DELIVERY"', shows: 'how often Millrace tried, each answer, and what to do' },
    { run: 'millrace deliveries show "$DELIVERY" --curl', shows: 'the request, to send it from your own machine' },
  );
}

async function showRequest(control: Control, id: string, options: Options): Promise<void> {
  const rebuilt = await control.ask<RebuiltRequest>('GET', `/deliveries/${encodeURIComponent(id)}/request`);
  if (options.json) return printJson(rebuilt);
  print(indented(curlOf(rebuilt.request), ''));
}

/** A deleted destination has no name and no health any more. */
async function perhaps<Answer>(control: Control, path: string): Promise<Answer | undefined> {
  return control.ask<Answer>('GET', path).catch((error: unknown) => {
    if (error instanceof Refusal) return undefined;
    throw error;
  });
}

function retryCommand(): Command {
  const command = apiCommand('retry <delivery...>', 'attempt deliveries that wait now, before their time').action(
    async (ids: string[], options: Options) => {
      const control = await connect(options);
      const answers: RetryNow[] = [];
      for (const id of ids) {
        const answer = await control.ask<RetryNow>('POST', `/deliveries/${encodeURIComponent(id)}/retry`);
        answers.push(answer);
        if (!options.json) print(`${inline(id)}: ${inline(localSentence(answer.sentence))}`);
      }
      if (options.json) printJson({ items: answers });
    },
  );
  return withExamples(command, {
    run: 'millrace deliveries retry "$WAITING_DELIVERY"',
    shows: 'what deliver does now; a destination takes one such request in five seconds',
  });
}
