import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { BENCH_WRITE_KEY } from '../collect/load.ts';

export type SteadyLoad = { url: string; template: string; calls: number; callsPerSecond: number };

const TICK_MS = 20;

/** Open loop: every tick sends its requests, however long the ones before take. */
export async function driveSteadily(
  { url, template, calls, callsPerSecond }: SteadyLoad,
  seconds: number,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const perTick = (callsPerSecond / calls) * (TICK_MS / 1_000);
  const answered: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let tick = 1; tick <= (seconds * 1_000) / TICK_MS; tick += 1) {
    while (answered.length < tick * perTick) {
      answered.push(post(url, template.replaceAll('@ID@', crypto.randomUUID()), agent));
    }
    await sleep(Math.max(0, startedAt + tick * TICK_MS - performance.now()));
  }
  await Promise.all(answered);
  agent.destroy();
}

function post(url: string, body: string, agent: Agent): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  const sent = request(url, { method: 'POST', auth: `${BENCH_WRITE_KEY}:`, headers, agent }, (answer) => {
    if (answer.statusCode !== 200) reject(new Error(`answered ${answer.statusCode}`));
    answer.resume().once('end', resolve);
  });
  sent.once('error', reject).end(body);
  return promise;
}
