/** `millrace export`: the configuration of a workspace as YAML. */
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import type { Command } from 'commander';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { readWorkspace } from '../../config/read-workspace.ts';
import { withExamples } from '../../output/example-of.ts';
import { Failure } from '../../output/failures.ts';
import { print, printJson } from '../../output/print.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';

export function exportCommand(): Command {
  const command = apiCommand('export', 'print the configuration of the workspace as YAML for git, without secrets')
    .option('--check <file>', 'print nothing, and exit with 6 unless the file is what export prints')
    .action(exportConfig);
  return withExamples(command, {
    run: 'millrace export > millrace.yaml && millrace export --check millrace.yaml',
    shows:
      'sources, destinations and audiences by name; secrets are references such as ${env:WEB_ORDERS_SHARED_SECRET}',
  });
}

async function exportConfig(options: ServerOptions & JsonOption & { check?: string }): Promise<void> {
  const workspace = await readWorkspace(await connect(options));
  // The library for YAML is large, and the other commands do not need it.
  const { toDocument, toYaml } = await import('../../config/write-file.ts');
  if (options.check !== undefined) return check(options.check, toYaml(workspace));
  if (options.json) return printJson(toDocument(workspace));
  process.stdout.write(toYaml(workspace));
}

async function check(file: string, yaml: string): Promise<void> {
  if ((await readConfigText(file)) !== yaml) {
    throw new Failure(`${file} is not what the server has.`, {
      exit: 'findings',
      todo: `See the differences with millrace apply --check ${file}, or write it anew with millrace export > ${file}.`,
    });
  }
  print(`${file} is what the server has.`);
}

export async function readConfigText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    const why =
      error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'it does not exist' : String(error);
    throw new Failure(`${file} cannot be read: ${why}.`, { exit: 'usage', todo: 'Check its name.' });
  });
}
