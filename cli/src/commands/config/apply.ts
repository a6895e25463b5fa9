/** `millrace apply`: makes a workspace as a file says, after it has shown the differences. */
import { text } from 'node:stream/consumers';
import process from 'node:process';
import type { Command } from 'commander';
import { connect, type ServerOptions } from '../../api/server-options.ts';
import { carryOut } from '../../config/carry-out.ts';
import { type Plan, planChanges } from '../../config/plan.ts';
import { readWorkspace } from '../../config/read-workspace.ts';
import { planDocument, tellPlan } from '../../config/tell-plan.ts';
import { withExamples } from '../../output/example-of.ts';
import { Failure } from '../../output/failures.ts';
import { inline, print, printJson } from '../../output/print.ts';
import { openProgress } from '../../output/progress.ts';
import { confirm } from '../../output/prompt.ts';
import { apiCommand, type JsonOption } from '../api-command.ts';
import { readConfigText } from './export.ts';

type ApplyOptions = ServerOptions & JsonOption & { check?: true; prune?: true; setSecrets?: true; yes?: true };

export function applyCommand(): Command {
  const command = apiCommand(
    'apply [file]',
    'make the workspace as a file of export says; - or no file reads standard input',
  )
    .option('--check', 'change nothing, and exit with 6 when there are differences')
    .option('--prune', 'delete sources, destinations and definitions that are not in the file')
    .option('--set-secrets', 'write secrets again that the server has already')
    .option('--yes', 'do not ask')
    .action(apply);
  return withExamples(
    command,
    {
      run: 'millrace export | millrace apply --yes',
      shows: 'applies a file; the second time there is nothing to change',
    },
    {
      run: 'millrace export > millrace.yaml && millrace apply --check millrace.yaml',
      shows: 'for CI: exit code 6 when somebody changed the server by hand',
    },
  );
}

async function apply(file: string | undefined, options: ApplyOptions): Promise<void> {
  const isInput = file === undefined || file === '-';
  const given = isInput ? await text(process.stdin) : await readConfigText(file);
  const control = await connect(options);
  const current = await readWorkspace(control);
  // The library for YAML is large, and the other commands do not need it.
  const { readConfigFile } = await import('../../config/read-file.ts');
  const wanted = readConfigFile(given, current.schemas);
  const plan = planChanges(wanted, current, { prune: options.prune === true, setSecrets: options.setSecrets === true });
  if (options.json && (options.check || plan.changes.length === 0)) printJson(planDocument(plan, false));
  else if (!options.json) tellPlan(plan);
  if (options.check) return tellChecked(plan);
  if (plan.changes.length === 0) return;
  mustHaveSecrets(plan);
  await confirm('The workspace is changed as shown above.', options);
  using progress = openProgress();
  await carryOut(control, plan, current, (done) => progress.tell(`${done} of ${plan.changes.length} changes made…`));
  if (options.json) printJson(planDocument(plan, true));
  else print('Done.');
}

function tellChecked({ changes }: Plan): void {
  if (changes.length === 0) return;
  throw new Failure('The workspace is not as the file says.', {
    exit: 'findings',
    todo: 'Run millrace apply to change it.',
  });
}

/** All that are missing at once, before anything is changed. */
function mustHaveSecrets({ changes }: Plan): void {
  const missing = changes.flatMap((change) =>
    change.kind === 'destination' && change.action !== 'delete'
      ? change.settings.missing.map((each) => `${each} of "${change.destination}"`)
      : [],
  );
  if (missing.length === 0) return;
  throw new Failure(
    `The server does not have these secrets yet, and the environment neither: ${inline(missing.join(', '))}.`,
    {
      exit: 'usage',
      todo: 'Set the variables, or write references to variables that are set. Nothing was changed.',
    },
  );
}
