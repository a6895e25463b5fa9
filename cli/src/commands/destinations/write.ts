/** Creating and changing destinations. Secrets come from the environment or standard input, so that no process list shows them. */
import { BODY_FORMATS } from '@millrace/contract';
import type { Destination } from '@millrace/contract/control';
import { type Command, Option } from 'commander';
import type { Control } from '../../api/control.ts';
import { findDestination, findSource } from '../../api/find-named.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { Failure } from '../../output/failures.ts';
import { inline, print, printJson } from '../../output/print.ts';
import { timeText } from '../../output/times.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';
import { readFilter, readSettings, type SettingOptions } from './read-destination.ts';
import { tellDestination } from './tell-destination.ts';

type Options = ServerOptions & JsonOption;
type Rotated = { sharedSecret?: string; previousValidUntil: string | null };

const many = (value: string, before: string[] = []) => [...before, value];

function withSettings(command: Command): Command {
  return command
    .option('--url <url>', 'a URL that events are posted to; repeat it for up to five', many)
    .option('--header <name: value>', 'a header for every URL of this command; repeat it for more', many)
    .option('--header-env <name=VARIABLE>', 'a header whose value stands in an environment variable', many)
    .option('--secret-env <VARIABLE>', 'the environment variable with the secret that signs requests')
    .option('--secret-stdin', 'read the secret from standard input')
    .addOption(
      new Option('--success-policy <policy>', 'delivered when any or all URLs took it').choices(['any', 'all']),
    )
    .addOption(new Option('--body-format <format>', 'the body of requests').choices(BODY_FORMATS))
    .addOption(
      new Option('--order <order>', "user: one user's events of a request one after the other").choices([
        'none',
        'user',
      ]),
    )
    .option('--max-concurrency <count>', 'most requests at a time, or none')
    .option('--max-per-second <count>', 'most requests a second, or none')
    .option('--filter <rule>', 'a rule that events must pass, such as "type equals track"; repeat it for more', many)
    .option('--no-filters', 'take all filters away');
}

export function createCommand(): Command {
  const command = withSettings(apiCommand('create <name>', 'attach a new webhook destination to a source'))
    .requiredOption('--source <name>', 'the source whose events it gets')
    .option('--new-secret', 'let the server make the signing secret; it is shown once')
    .option('--enable', 'send events to it at once; otherwise it is created disabled')
    .action(create);
  return withExamples(command, {
    run: 'millrace destinations create crm --source web --url https://crm.example.com/hook --new-secret --filter "type equals track" --enable',
    shows: 'creates it, and shows its signing secret once',
  });
}

type CreateOptions = Options & SettingOptions & { source: string; newSecret?: true; enable?: true };

async function create(name: string, options: CreateOptions): Promise<void> {
  if (options.url === undefined) {
    throw new Failure('The destination has no URL.', { exit: 'usage', todo: 'Give --url https://….' });
  }
  const settings = await readSettings(options);
  const filters = (options.filter ?? []).map(readFilter);
  const control = await connect(options);
  const { id: sourceId } = await findSource(control, options.source);
  const body = { sourceId, catalog: 'Webhooks', name, filters, settings };
  const made = await control.ask<Destination>('POST', '/destinations', { body });
  // The secret comes first: an enabled destination must never send unsigned requests.
  const secret = options.newSecret ? (await rotate(control, made.id, {})).sharedSecret : undefined;
  const change = { body: { enabled: options.enable === true } };
  const destination = await control.ask<Destination>('PATCH', `/destinations/${made.id}`, change);
  if (options.json) return printJson({ ...destination, ...(secret === undefined ? {} : { sharedSecret: secret }) });
  tellDestination(destination);
  if (secret !== undefined) print(`\nSigning secret, shown this once: ${secret}`);
  if (options.enable !== true)
    print(`\nIt is disabled. Try it with millrace destinations test ${destination.id}, then enable it.`);
}

export function updateCommand(): Command {
  const command = withSettings(
    apiCommand('update <destination>', 'change a destination; it keeps the settings that are not given'),
  )
    .option('--name <name>', 'a new name')
    .action(async (given: string, options: Options & SettingOptions & { name?: string }) => {
      const settings = await readSettings(options);
      const filters = options.filter?.map(readFilter) ?? (options.filters ? undefined : []);
      const body = {
        ...(options.name === undefined ? {} : { name: options.name }),
        ...(Object.keys(settings).length === 0 ? {} : { settings }),
        ...(filters === undefined ? {} : { filters }),
      };
      if (Object.keys(body).length === 0) {
        throw new Failure('There is nothing to change.', {
          exit: 'usage',
          todo: 'Give --name, --url, --filter or another setting.',
        });
      }
      const control = await connect(options);
      const { id } = await findDestination(control, given);
      const destination = await control.ask<Destination>('PATCH', `/destinations/${id}`, { body });
      if (options.json) return printJson(destination);
      tellDestination(destination);
    });
  return withExamples(command, {
    run: 'millrace destinations update orders --filter "event equals \\"Order Completed\\"" --max-per-second 50',
    shows: 'the destination with its new filter and limit',
  });
}

export function rotateCommand(): Command {
  const command = apiCommand(
    'rotate-secret <destination>',
    'replace the signing secret; the old one stays valid beside it',
  )
    .option('--overlap-hours <hours>', 'how long requests are signed with both, 24 unless given')
    .option('--secret-env <VARIABLE>', 'the environment variable with the new secret; the server makes one otherwise')
    .action(async (given: string, options: Options & { overlapHours?: string; secretEnv?: string }) => {
      const { sharedSecret } = await readSettings({ ...options, filters: true });
      const hours = readHours(options.overlapHours);
      const control = await connect(options);
      const { id, name } = await findDestination(control, given);
      const rotated = await rotate(control, id, {
        ...(sharedSecret === undefined ? {} : { sharedSecret }),
        ...(hours === undefined ? {} : { overlapHours: hours }),
      });
      if (options.json) return printJson(rotated);
      print(`"${inline(name)}" signs with a new secret.`);
      if (rotated.sharedSecret !== undefined) print(`Shown this once: ${rotated.sharedSecret}`);
      if (rotated.previousValidUntil !== null)
        print(`Requests carry both signatures until ${timeText(rotated.previousValidUntil)}.`);
    });
  return withExamples(command, {
    run: 'millrace destinations rotate-secret orders --overlap-hours 48',
    shows: 'the new secret, once; requests carry both signatures for two days',
  });
}

function rotate(control: Control, id: string, body: object): Promise<Rotated> {
  return control.ask<Rotated>('POST', `/destinations/${id}/rotate-secret`, { body });
}

function readHours(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,3}$/.test(text) && Number(text) <= 168) return Number(text);
  throw new Failure(`--overlap-hours ${text} is not between 0 and 168.`, {
    exit: 'usage',
    todo: 'Give one such as 24.',
  });
}
