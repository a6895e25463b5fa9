/** `millrace audit`: the audit log in a file, and whether such a file is whole. */
import { createReadStream, createWriteStream } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { checkExport } from '@millrace/contract/audit-chain';
import { counted } from '@millrace/console/format/numbers';
import { Command } from 'commander';
import { connect, type ServerOptions } from '../api/server-options.ts';
import { withExamples } from '../output/example-of.ts';
import { Failure } from '../output/failures.ts';
import { inline, print, printJson, remark } from '../output/print.ts';
import { apiCommand, groupCommand, type JsonOption } from './api-command.ts';

export function auditCommand(): Command {
  return groupCommand('audit', 'export the audit log of a workspace, and check such a file', [
    exportCommand(),
    checkCommand(),
  ]);
}

type ExportOptions = ServerOptions & JsonOption & { out?: string };

function exportCommand(): Command {
  const command = apiCommand('export', 'write the whole audit log with its hashes as lines of JSON')
    .option('--out <file>', 'write to this file, and not to standard output')
    .action(async ({ out, ...options }: ExportOptions) => {
      const control = await connect(options);
      const body = await control.stream('/audit-log/export', {}, new AbortController().signal);
      const target = out === undefined ? process.stdout : createWriteStream(out, { mode: 0o600 });
      await pipeline(Readable.from(body), target, { end: out !== undefined });
      if (out !== undefined) remark(`Written to ${inline(out)}. Check it with: millrace audit check ${inline(out)}`);
    });
  return withExamples(command, {
    run: 'millrace audit export --out audit.ndjson',
    shows: 'keeps the log in a file that can be checked without the server',
  });
}

function checkCommand(): Command {
  const command = new Command('check')
    .argument('<file>', 'a file of `millrace audit export`')
    .description('check the hash chain of an exported audit log; asks no server')
    .option('--json', 'print the result as JSON')
    .action(check);
  return withExamples(command, {
    run: 'millrace audit export --out audit.ndjson && millrace audit check audit.ndjson',
    shows: 'says whether an entry was changed, taken out or cut off; exit code 6 when one was',
  });
}

async function check(file: string, { json }: JsonOption): Promise<void> {
  const input = createReadStream(file);
  const opened = new Promise<void>((resolve, reject) => void input.once('open', () => resolve()).once('error', reject));
  await opened.catch((error: unknown) => {
    throw new Failure(`${inline(file)} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      exit: 'usage',
      todo: 'Check the path.',
    });
  });
  const checked = await checkExport(createInterface({ input, crlfDelay: Infinity }));
  if (json) printJson(checked);
  if (checked.kind === 'broken') {
    throw new Failure(`Line ${checked.line}: ${checked.why}.`, {
      exit: 'findings',
      todo: 'Compare with another export, and with the lines `audit.anchored` in the log of the server.',
    });
  }
  if (json) return;
  print(`The chain holds: ${counted(checked.entries, 'entry', 'entries')} of ${checked.workspaceId}.`);
  print(`It ends with ${checked.hash}.`);
  print(
    'Somebody who rewrites all entries makes another end: compare it with `audit.anchored` in the log of the server.',
  );
}
