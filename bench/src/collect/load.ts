import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { orderCall } from '../order-call.ts';

/** Where a template takes the id of a request. */
export const PLACE = '@ID@';

/** Of the form and length that real keys have. */
export const BENCH_WRITE_KEY = 'wk_7FhQ2mZpLx93vTnRkW8yBdCsGjA0uEoIi1qXzV5tNcM_1a2b3c4';

/** Twenty calls of an online shop, 15 KB; `@ID@` is where the load generator puts a new id for each request. */
export function batchTemplate(calls = 20): string {
  return JSON.stringify({
    batch: Array.from({ length: calls }, (_, i) => shopCall(i)),
    sentAt: '2026-11-15T10:00:01.000Z',
  });
}

export function singleTemplate(): string {
  return JSON.stringify(shopCall(0));
}

function shopCall(index: number): Record<string, unknown> {
  const { userId, event, properties, context, integrations } = orderCall(index);
  return {
    messageId: `bench-${PLACE}-${index}`,
    type: 'track',
    userId,
    anonymousId: '507f191e-810c-4972-9de8-60ea00000000',
    event,
    timestamp: '2026-11-15T10:00:00.123Z',
    properties,
    context: { library: { name: 'analytics-node', version: '3.1.0' }, ...context },
    integrations,
  };
}

export type Load = { url: string; template: string; scriptFile: string; seconds: number; run: string };

/** One slice of load with wrk; resolves with the number of requests that were answered 200. */
export async function driveLoad({ url, template, scriptFile, seconds, run }: Load): Promise<number> {
  writeFileSync(scriptFile, luaScript(template, run));
  const wrk = spawn('wrk', ['-t1', '-c16', `-d${seconds}s`, '-s', scriptFile, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  wrk.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    wrk.once('error', () => reject(new Error('wrk is missing: `apt-get install wrk`')));
    wrk.once('close', resolve);
  });
  const requests = Number(/(\d+) requests in/.exec(output)?.[1]);
  if (code !== 0 || !(requests > 0) || output.includes('Non-2xx')) throw new Error(`the load failed:\n${output}`);
  return requests;
}

function luaScript(template: string, run: string): string {
  const parts = template.split(PLACE).map((part) => `[==[${part}]==]`);
  const key = Buffer.from(`${BENCH_WRITE_KEY}:`).toString('base64');
  return `local parts = { ${parts.join(',\n')} }
local n = 0
wrk.method = 'POST'
wrk.headers['Content-Type'] = 'application/json'
wrk.headers['Authorization'] = 'Basic ${key}'
function request()
  n = n + 1
  return wrk.format(nil, nil, nil, table.concat(parts, '${run}-' .. n))
end
`;
}
