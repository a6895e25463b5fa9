/** The write keys of a source. */
import type { WriteKey } from '@millrace/contract/control';
import type { Command } from 'commander';
import { findSource } from '../../api/find-named.ts';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { withExamples } from '../../output/example-of.ts';
import { Failure } from '../../output/failures.ts';
import { inline, print, printJson } from '../../output/print.ts';
import { confirm } from '../../output/prompt.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';

type Options = ServerOptions & JsonOption;

export function addKeyCommand(): Command {
  const command = apiCommand('add-key <source>', 'add a write key to a source')
    .option('--label <label>', 'a name for the key')
    .action(async (given: string, options: Options & { label?: string }) => {
      const control = await connect(options);
      const { id } = await findSource(control, given);
      const body = options.label === undefined ? {} : { label: options.label };
      const key = await control.ask<WriteKey>('POST', `/sources/${id}/write-keys`, { body });
      if (options.json) return printJson(key);
      print(`${key.key}  (${key.id}); collect accepts it within a second.`);
    });
  return withExamples(command, { run: 'millrace sources add-key web --label "Checkout"', shows: 'the new key' });
}

export function revokeKeyCommand(): Command {
  const command = apiCommand('revoke-key <source> <key>', 'revoke a write key, by the key itself or its id')
    .option('--yes', 'do not ask')
    .action(async (given: string, wanted: string, options: Options & { yes?: true }) => {
      const control = await connect(options);
      const { id, name, writeKeys } = await findSource(control, given);
      const key = writeKeys.find((each) => each.id === wanted || each.key === wanted || each.label === wanted);
      if (key === undefined) {
        throw new Failure(`The source "${inline(name)}" has no such key.`, {
          exit: 'notFound',
          todo: `millrace sources show ${id} lists its keys.`,
        });
      }
      await confirm(`Clients that still use the key "${inline(key.label)}" get an error.`, options);
      await control.ask('DELETE', `/sources/${id}/write-keys/${key.id}`);
      if (options.json) return printJson({ revoked: key.id });
      print(`The key "${inline(key.label)}" is revoked; collect refuses it within a second.`);
    });
  return withExamples(command, {
    run: 'millrace sources revoke-key web "Old site" --yes',
    shows: 'revokes the key with this label; a key or its id can be given too',
  });
}
