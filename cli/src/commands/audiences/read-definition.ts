/** A definition from the options of `create`, `edit` and `preview`. */
import type { Command } from 'commander';
import type { Control } from '../../api/control.ts';
import { findDestination, findSource } from '../../api/find-named.ts';
import { Failure } from '../../output/failures.ts';

export type DefinitionOptions = {
  when?: string;
  compute?: string;
  type?: string;
  event?: string;
  field?: string;
  where?: string;
  window?: string;
  source?: string[];
  destination?: string[];
  includeAnonymous?: true;
  settle?: string;
};

const many = (value: string, before: string[] = []) => [...before, value];

export function withDefinitionOptions(command: Command): Command {
  return command
    .option('--when <json>', 'the condition of an audience, as JSON')
    .option('--compute <computation>', 'the computation of a trait: count, sum, average, last, most_frequent …')
    .option('--type <type>', 'the calls that a trait looks at; track unless given')
    .option('--event <name>', 'the events that a trait looks at, by name')
    .option('--field <field>', 'the field that a trait computes with, such as properties.revenue')
    .option('--where <json>', 'rules that the events of a trait fit, as a list in JSON')
    .option('--window <time>', 'how long an event counts for a trait, such as 30d')
    .option('--source <name>', 'count events of this source only; repeat it for more', many)
    .option('--destination <name>', 'tell this destination; repeat it for more', many)
    .option('--include-anonymous', 'tell of profiles without a userId too')
    .option('--settle <seconds>', 'wait this long before a change is told');
}

/** Only the fields that were given. */
export async function readDefinition(control: Control, options: DefinitionOptions): Promise<Record<string, unknown>> {
  const { compute, type, event, field, window, settle } = options;
  const ids = async (names: readonly string[], find: (control: Control, given: string) => Promise<{ id: string }>) =>
    Promise.all(names.map(async (name) => (await find(control, name)).id));
  const read = {
    when: readJson('--when', options.when),
    compute,
    type,
    event,
    field,
    where: readJson('--where', options.where),
    window,
    sources: options.source && (await ids(options.source, findSource)),
    destinations: options.destination && (await ids(options.destination, findDestination)),
    includeAnonymous: options.includeAnonymous,
    settleSeconds: settle === undefined ? undefined : readSeconds(settle),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

/** An audience has a condition, a trait a computation. */
export async function readNewDefinition(control: Control, name: string, options: DefinitionOptions) {
  if ((options.when === undefined) === (options.compute === undefined))
    throw new Failure('A definition has either --when or --compute.', {
      exit: 'usage',
      todo: `For an audience write --when '{"event":"Order Completed","window":"30d","atLeast":3}', for a trait --compute count --event "Order Completed".`,
    });
  const kind = options.when === undefined ? 'trait' : 'audience';
  return { kind, name, ...(await readDefinition(control, options)) };
}

function readJson(option: string, text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure(`${option} is no JSON.`, { exit: 'usage', todo: 'Quote it for the shell with single quotes.' });
  }
}

function readSeconds(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new Failure(`--settle ${text} is no number of seconds.`, { exit: 'usage', todo: 'Give one such as 60.' });
}
