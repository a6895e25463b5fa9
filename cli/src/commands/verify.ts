/** `millrace verify`: is this webhook request genuine? The check that a receiver has to make, on the command line. */
import { buffer } from 'node:stream/consumers';
import process from 'node:process';
import { verifyBody, verifyStandardWebhook } from '@millrace/contract';
import { duration } from '@millrace/console/format/times';
import { Command } from 'commander';
import { variable } from '../environment.ts';
import { withExamples } from '../output/example-of.ts';
import { Failure } from '../output/failures.ts';
import { print, printJson, remark } from '../output/print.ts';

type VerifyOptions = { signature: string; id?: string; timestamp?: string; secret?: string; json?: true };

/** Receivers should refuse a request that is older: it may be a recorded one. */
const TOLERANCE_SECONDS = 300;

export function verifyCommand(): Command {
  const command = new Command('verify')
    .description('check the signature of a webhook request whose body comes on standard input')
    .requiredOption('--signature <value>', 'the header X-Signature, or webhook-signature with --id and --timestamp')
    .option('--id <id>', 'the header webhook-id, for webhook-signature')
    .option('--timestamp <seconds>', 'the header webhook-timestamp, for webhook-signature')
    .option(
      '--secret <secret>',
      'the shared secret; MILLRACE_SECRET when absent, so that it stays out of the shell history',
    )
    .option('--json', 'print {"valid": true} or {"valid": false}, with ageSeconds for webhook-signature')
    .action(verify);
  return withExamples(
    command,
    {
      run: 'printf \'{"type":"track"}\' | millrace verify --secret s3cret --signature dcd564fde939d5ea54546f251e3465142f6433dc',
      shows: 'says whether the body was signed with this secret; exit code 6 when not',
    },
    {
      run: 'millrace verify --id "$WEBHOOK_ID" --timestamp "$WEBHOOK_TIMESTAMP" --signature "$WEBHOOK_SIGNATURE" < body.json',
      shows: 'checks the headers of Standard Webhooks, with the secret in MILLRACE_SECRET',
    },
  );
}

async function verify({ signature, id, timestamp, secret, json }: VerifyOptions): Promise<void> {
  const known = secret ?? variable('MILLRACE_SECRET');
  if (known === undefined) throw usage('There is no secret.', 'Give --secret or set MILLRACE_SECRET.');
  if ((id === undefined) !== (timestamp === undefined)) {
    throw usage('webhook-signature covers the id and the timestamp.', 'Give both --id and --timestamp.');
  }
  const body = (await buffer(process.stdin)).toString();
  const seconds = readSeconds(timestamp);
  const isValid =
    id === undefined || seconds === undefined
      ? verifyBody(known, body, signature)
      : verifyStandardWebhook(known, body, { id, timestampSeconds: seconds, signature });
  const ageSeconds = seconds === undefined ? undefined : Math.round(Date.now() / 1_000 - seconds);
  if (json) printJson({ valid: isValid, ...(ageSeconds === undefined ? {} : { ageSeconds }) });
  else if (isValid) print('The signature is valid: the owner of the secret sent exactly this body.');
  if (!isValid) throw notValid(id !== undefined);
  if (ageSeconds === undefined || Math.abs(ageSeconds) <= TOLERANCE_SECONDS) return;
  const age = duration(ageSeconds * 1_000);
  remark(
    `Its time is ${age} ${ageSeconds > 0 ? 'ago' : 'ahead'}: a receiver should refuse a request that is more than five minutes away.`,
  );
}

function notValid(isStandard: boolean): Failure {
  const parts = isStandard ? 'body, id, timestamp and secret' : 'body and secret';
  return new Failure(`The signature is not valid for this ${parts}.`, {
    exit: 'findings',
    todo: 'Use the bytes of the body as they came, before any parsing, and the secret of this destination.',
  });
}

function readSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw usage(`--timestamp ${text} is no time in seconds.`, 'Give the value of webhook-timestamp as it came.');
}

function usage(what: string, todo: string): Failure {
  return new Failure(what, { exit: 'usage', todo });
}
