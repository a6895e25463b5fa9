import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Told } from './contender.ts';

export type Kind = 'ours' | 'plain' | 'twin' | 'segment';
export type Plan = { launches: number; slices: number; warmUp: number; requests: number };

export type Compared = {
  /** Median over the slices of first's CPU a call divided by second's. */
  ratio: number;
  min: number;
  max: number;
  /** Medians, in microseconds a call. */
  firstUs: number;
  secondUs: number;
  firstCallerUs: number;
  secondCallerUs: number;
};

/** Both share this core; the receiver has the other one, with this process. */
const CLIENT_CORE = '0';

export async function compareClients(first: Kind, second: Kind, plan: Plan): Promise<Compared> {
  await using receiver = await openReceiver();
  const slices: { a: Told; b: Told }[] = [];
  for (let launch = 0; launch < plan.launches; launch += 1) {
    await using a = await openContender(first, `${receiver.url}/a`);
    await using b = await openContender(second, `${receiver.url}/b`);
    await together(a, b, plan.warmUp);
    for (let slice = 0; slice < plan.slices; slice += 1) {
      const before = { ...receiver.requests };
      slices.push(await together(a, b, plan.requests));
      for (const path of ['/a/v1/batch', '/b/v1/batch']) {
        const came = (receiver.requests[path] ?? 0) - (before[path] ?? 0);
        if (came < plan.requests - 1) throw new Error(`void: only ${came} requests came to ${path}`);
      }
    }
  }
  return summarize(slices);
}

/** The contender that is done first goes on until the other is done, so that each is always measured beside the other. */
async function together(a: Contender, b: Contender, requests: number): Promise<{ a: Told; b: Told }> {
  const running = { a: true, b: true };
  const runs = async (side: 'a' | 'b'): Promise<Told> => {
    const contender = side === 'a' ? a : b;
    const told = await contender.run(requests);
    running[side] = false;
    while (running.a || running.b) await contender.run(Math.ceil(requests / 20));
    return told;
  };
  const [toldA, toldB] = await Promise.all([runs('a'), runs('b')]);
  return { a: toldA, b: toldB };
}

type Contender = AsyncDisposable & { run(requests: number): Promise<Told> };

async function openContender(kind: Kind, endpoint: string): Promise<Contender> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'contender.ts'), [kind, endpoint]);
  const exited = once(child, 'exit');
  await once(child, 'message');
  execFileSync('taskset', ['-a', '-c', '-p', CLIENT_CORE, String(child.pid)], { stdio: 'ignore' });
  return {
    async run(requests) {
      const told = once(child, 'message') as Promise<[Told]>;
      child.send({ requests });
      return (await told)[0];
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function openReceiver(): Promise<AsyncDisposable & { url: string; requests: Record<string, number> }> {
  const requests: Record<string, number> = {};
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    request.resume();
    request.once('end', () => {
      requests[path] = (requests[path] ?? 0) + 1;
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 16 });
      response.end('{"success":true}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a numeric port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function summarize(slices: { a: Told; b: Told }[]): Compared {
  const ratios = slices.map(({ a, b }) => a.us / b.us).sort((a, b) => a - b);
  return {
    ratio: round(median(ratios)),
    min: round(ratios[0] ?? 0),
    max: round(ratios.at(-1) ?? 0),
    firstUs: round(median(slices.map(({ a }) => a.us))),
    secondUs: round(median(slices.map(({ b }) => b.us))),
    firstCallerUs: round(median(slices.map(({ a }) => a.callerUs))),
    secondCallerUs: round(median(slices.map(({ b }) => b.callerUs))),
  };
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
