/** The output of `millrace dev`. Progress goes to standard error; standard output has the greeting and events, or one line of JSON. */
import process from 'node:process';
import { visible } from '@millrace/console/format/texts';
import { styled } from '../output/print.ts';
import type { Ready } from './run-dev.ts';

export type Screen = {
  step(text: string): void;
  /** A stored or delivered event, or news of the shop. */
  event(text: string): void;
  ready(ready: Ready, dataDir: string): void;
};

export function jsonScreen(): Screen {
  return {
    step: (text) => void process.stderr.write(`${visible(text)}\n`),
    event: () => undefined,
    ready({ collectUrl, consoleUrl, token, writeKey }) {
      process.stdout.write(`${JSON.stringify({ ready: true, collectUrl, consoleUrl, token, writeKey })}\n`);
    },
  };
}

export function textScreen(): Screen {
  return {
    step: (text) => void process.stderr.write(`${visible(text)}\n`),
    event: (text) => void process.stdout.write(`${visible(text)}\n`),
    ready: (ready, dataDir) => void process.stdout.write(greeting(ready, dataDir)),
  };
}

function greeting({ collectUrl, consoleUrl, token, writeKey, account }: Ready, dataDir: string): string {
  const open = `   Open  ${consoleUrl}   `;
  const line = '─'.repeat(open.length);
  return `
╭${line}╮
│${' '.repeat(open.length)}│
│${styled('bold', open)}│
│${' '.repeat(open.length)}│
╰${line}╯
  email      ${account.email}
  password   ${account.password}

Send an event from another terminal, and watch it arrive here and in the console:

  curl -u ${writeKey}: ${collectUrl}/v1/track \\
    -d '{"userId":"u1","event":"Order Completed","properties":{"revenue":12.5}}'

API token   ${token}
Data        ${dataDir}   (\`millrace dev --wipe\` begins anew)
Ctrl-C stops everything.
`;
}
