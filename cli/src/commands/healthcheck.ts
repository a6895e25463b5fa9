/**
 * `millrace healthcheck`: is the server in this container ready? It asks `/readyz` of the metrics port, which answers for all roles of
 * the process. The image has neither a shell nor curl, so its health check is a command of its own.
 */
import process from 'node:process';
import { Command } from 'commander';
import { withExamples } from '../output/example-of.ts';
import { Failure } from '../output/failures.ts';

type Options = { url?: string; timeout: string; json?: true };

export function healthcheckCommand(): Command {
  const command = new Command('healthcheck')
    .description('ask the server on this machine whether it is ready; for containers and supervisors')
    .option('--url <url>', 'the address to ask; without it, /readyz of the metrics port in the settings')
    .option('--timeout <ms>', 'how long to wait for the answer', '3000')
    .option('--json', 'print {"ready": true} or {"ready": false, "reasons": […]}')
    .action(async ({ url, timeout, json }: Options) => {
      const timeoutMs = readTimeout(timeout);
      const reasons = await askReady(url ?? (await ownUrl()), timeoutMs);
      const isReady = reasons.length === 0;
      if (json) process.stdout.write(`${JSON.stringify(isReady ? { ready: true } : { ready: false, reasons })}\n`);
      else if (isReady) process.stdout.write('The server is ready.\n');
      if (!isReady) throw new Failure(`The server is not ready: ${reasons.join('; ')}.`, { exit: 'findings' });
    });
  return withExamples(command, {
    run: 'millrace healthcheck --url http://127.0.0.1:1/readyz',
    shows: 'exit code 0 when the server is ready, 6 when it is not, 5 when nobody answers',
  });
}

/** Empty when the server is ready. */
async function askReady(url: string, timeoutMs: number): Promise<string[]> {
  let answer: Response;
  try {
    answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    throw new Failure(isLate ? `${url} did not answer within ${timeoutMs} ms.` : `${url} cannot be reached.`, {
      exit: 'unreachable',
      todo: 'See the log of the server: it says why it has not started, or on which port it listens.',
    });
  }
  if (answer.ok) return [];
  const { reasons = [] } = (await answer.json().catch(() => ({}))) as { reasons?: string[] };
  return reasons.length === 0 ? [`${url} answered ${answer.status}`] : reasons;
}

/** The same settings as those of the server, which a container has in its environment. */
async function ownUrl(): Promise<string> {
  const { readConfig } = await import('@millrace/server/config');
  const read = readConfig();
  if (!read.ok) throw new Failure(`The settings are not valid:\n  ${read.problems.join('\n  ')}`, { exit: 'config' });
  const { host, port } = read.value.metrics;
  return `http://${reachable(host)}:${port}/readyz`;
}

/** A server that listens on every address is asked on the loopback. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function readTimeout(text: string): number {
  const timeoutMs = Number(text);
  if (Number.isInteger(timeoutMs) && timeoutMs > 0) return timeoutMs;
  throw new Failure(`--timeout ${text} is not a number of milliseconds.`, {
    exit: 'usage',
    todo: 'Give --timeout 3000.',
  });
}
