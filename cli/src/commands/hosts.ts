/** `millrace hosts`: the hosts that a workspace sends to, and the proof that they are its own. */
import type { HostCheck, TargetHost } from '@millrace/contract/control';
import type { Command } from 'commander';
import { connect, type ServerOptions } from '../api/server-options.ts';
import { withExamples } from '../output/example-of.ts';
import { Failure } from '../output/failures.ts';
import { inline, print, printJson } from '../output/print.ts';
import { printTable } from '../output/table.ts';
import { apiCommand, groupCommand, type JsonOption } from './api-command.ts';

type Options = ServerOptions & JsonOption;

export function hostsCommand(): Command {
  const group = groupCommand('hosts', 'list the hosts that events go to, and prove that they are yours', [
    checkCommand(),
  ]);
  return group.addCommand(listCommand(), { isDefault: true });
}

function listCommand(): Command {
  const command = apiCommand('list', 'list the hosts of the workspace, and which of them are proven').action(
    async (options: Options) => {
      const control = await connect(options);
      const items = await Array.fromAsync(control.list<TargetHost>('/target-hosts'));
      if (options.json) return printJson({ items });
      const columns = [
        { title: 'HOST', of: ({ host }: TargetHost) => host, isWhole: true as const },
        { title: 'STATE', of: ({ state }: TargetHost) => state },
        { title: 'BY', of: ({ way }: TargetHost) => (way === 'http' ? 'file' : (way ?? '')) },
        { title: 'TEXT OF THE PROOF', of: ({ proof }: TargetHost) => proof.text, isWhole: true as const },
      ];
      printTable(columns, items, 'The workspace sends to no host yet.');
    },
  );
  return withExamples(command, {
    run: 'millrace hosts list',
    shows: 'each host with its state, and the text to publish',
  });
}

function checkCommand(): Command {
  const command = apiCommand('check <url>', 'look for the proof of a host now, in DNS and on the host').action(
    async (url: string, options: Options) => {
      const control = await connect(options);
      const checked = await control.ask<HostCheck>('POST', '/target-hosts/check', { body: { url } });
      if (options.json) printJson(checked);
      else for (const { detail } of checked.steps) print(inline(detail));
      const host = inline(checked.host.host);
      if (!checked.ok) throw new Failure(`${host} is not proven.`, { exit: 'findings', todo: howTo(checked.host) });
      if (!options.json) print(`${host} is proven.`);
    },
  );
  return withExamples(command, {
    run: 'millrace hosts check "$RECEIVER_URL"',
    shows: 'what is found; exit code 6 and the text to publish when nothing is',
  });
}

function howTo({ proof: { text, recordName, path } }: TargetHost): string {
  const record = recordName === null ? '' : `Set a TXT record of ${inline(recordName)}, or serve`;
  return `${record === '' ? 'Serve' : record} a file at ${path} of the host, with the text ${text}`;
}
