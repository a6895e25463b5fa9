/** `millrace listen`: see calls and webhooks arrive on the own machine, without an account and without an engine. */
import { BODY_FORMATS } from '@millrace/contract';
import { Command, Option } from 'commander';
import { withExamples } from '../output/example-of.ts';
import type { ListenOptions } from '../listen/listen.ts';

const FORWARD = 'Forwarding:';
const REAL = 'Real events of a server:';

export function listenCommand(): Command {
  const command = new Command('listen')
    .summary('collect calls and webhooks on this machine, and forward events to your program')
    .description(
      'collect calls and receive webhooks on this machine, show each, and forward them as signed webhooks; needs no account and no engine',
    )
    .option('--port <port>', 'port on the loopback interface; 0 for a free one', '4318')
    .option('--write-key <key>', 'accept this write key only; any when absent')
    .option(
      '--secret <secret>',
      'check the signatures of webhooks, and sign forwarded ones; MILLRACE_SECRET when absent',
    )
    .option(
      '--fail <status|timeout|reset>:<share%>',
      'make this share of the requests fail (repeat it for more)',
      collect,
    )
    .option('--delay <time>', 'answer later, such as 2s')
    .option(
      '--allow-origin <origin>',
      'let web pages of this origin send, beside those of localhost (repeat it for more)',
      collect,
    )
    .option('--record <file>', 'append each entry to this file as a line of JSON')
    .option('--count <n>', 'end after this many calls and webhooks')
    .addOption(new Option('--output <form>', 'json or compact lines').choices(['json', 'compact']))
    .option('--json', 'the same as --output json')
    .option('--no-view', 'print lines where a terminal would show the full-screen view');
  addForwarding(command);
  command.action(async (options: ListenOptions) => {
    const { listen } = await import('../listen/listen.ts');
    await listen(options);
  });
  return withExamples(command, ...EXAMPLES);
}

function addForwarding(command: Command): void {
  const options = [
    new Option('--forward <url>', 'deliver each event there as a signed webhook').helpGroup(FORWARD),
    new Option('--header <name:value>', 'add a header to forwarded webhooks (repeat it for more)')
      .argParser(collect)
      .helpGroup(FORWARD),
    new Option('--body <format>', 'the body format; a batch has one event').choices(BODY_FORMATS).helpGroup(FORWARD),
    new Option('--from <server>', 'forward the events of a source of this server or profile').helpGroup(REAL),
    new Option('--source <name>', 'name or id of the source').helpGroup(REAL),
    new Option('--as <destination>', 'body, headers, filters and ids of this destination').helpGroup(REAL),
    new Option('--since <time>', 'begin with events that were stored this long ago, such as 10m').helpGroup(REAL),
    new Option('--token <token>', 'API token; better MILLRACE_TOKEN or a profile').helpGroup(REAL),
    new Option('--workspace <id>', 'workspace, for members of several').helpGroup(REAL),
  ];
  for (const option of options) command.addOption(option);
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

const EXAMPLES = [
  { run: 'millrace listen', shows: 'a collector for calls and webhooks on port 4318, with any write key' },
  {
    run: 'millrace listen --port 0 --fail 503:30% --fail reset:5% --delay 200ms --count 1',
    shows: 'answers late, and makes a third of the requests fail: does your program lose calls?',
  },
  {
    run: 'millrace listen --forward http://localhost:3000/hook --secret dev-secret --count 1',
    shows: 'delivers each collected call to your program as a signed webhook',
  },
  {
    run: 'millrace listen --from http://localhost:8081 --source Shop --forward http://localhost:3000/hook --secret dev-secret',
    shows: 'delivers real events of a source to your machine, without a tunnel',
  },
] as const;
