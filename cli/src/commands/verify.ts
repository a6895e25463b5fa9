/** `millrace verify`: is this webhook request genuine? The check that a receiver has to make, on the command line. */
import { text } from 'node:stream/consumers';
import process from 'node:process';
import { verifyBody } from '@millrace/contract';
import { Command } from 'commander';
import { withExamples } from '../output/example-of.ts';
import { Failure } from '../output/failures.ts';

export function verifyCommand(): Command {
  const command = new Command('verify')
    .description('check the X-Signature of a webhook request whose body comes on standard input')
    .requiredOption('--signature <hex>', 'the value of the header X-Signature')
    .option(
      '--secret <secret>',
      'the shared secret; MILLRACE_SECRET when absent, so that it stays out of the shell history',
    )
    .option('--json', 'print {"valid": true} or {"valid": false}')
    .action(async ({ signature, secret, json }: { signature: string; secret?: string; json?: true }) => {
      // oxlint-disable-next-line node/no-process-env -- the way to give a secret without showing it to other users
      const known = secret ?? process.env['MILLRACE_SECRET'];
      if (known === undefined)
        throw new Failure('There is no secret.', { exit: 'usage', todo: 'Give --secret or set MILLRACE_SECRET.' });
      const isValid = verifyBody(known, await text(process.stdin), signature);
      if (json) process.stdout.write(`${JSON.stringify({ valid: isValid })}\n`);
      else if (isValid)
        process.stdout.write('The signature is valid: the owner of the secret sent exactly this body.\n');
      if (isValid) return;
      throw new Failure('The signature is not valid for this body and secret.', {
        exit: 'findings',
        todo: 'Use the bytes of the body as they came, before any parsing, and the secret of this destination.',
      });
    });
  return withExamples(command, {
    run: 'printf \'{"type":"track"}\' | millrace verify --secret s3cret --signature 8a5d3a0e',
    shows: 'says whether the body was signed with this secret; exit code 6 when not',
  });
}
