import { Agent, type ClientRequest, request } from 'node:http';
import type { Attempt, Oracle } from './oracle.ts';
import { codeOf, headersOf } from './send-request.ts';
import type { PreparedBatch } from './batch-maker.ts';

/** Requests the server has begun to read and we have not finished writing. */
export type HeldRequests = { finish(): Promise<Attempt[]> };

/** Resolves when the server has read the headers of each and half of each body is written. */
export async function holdRequests(url: string, batches: PreparedBatch[], oracle: Oracle): Promise<HeldRequests> {
  const agent = new Agent({ keepAlive: true });
  const held = await Promise.all(batches.map((batch) => hold({ url, agent, batch }, oracle)));
  return {
    async finish() {
      for (const one of held) one.sendRest();
      const attempts = await Promise.all(held.map((one) => one.ended));
      agent.destroy();
      return attempts;
    },
  };
}

type ToHold = { url: string; agent: Agent; batch: PreparedBatch };
type Held = { sendRest(): void; ended: Promise<Attempt> };

async function hold({ url, agent, batch }: ToHold, oracle: Oracle): Promise<Held> {
  const startedAt = performance.now();
  const half = Math.floor(batch.body.length / 2);
  // The server's word "go on" is the signal that it has read the headers.
  const headers = { ...headersOf(batch.source.writeKey, batch.body), Expect: '100-continue' };
  const outgoing = request(`${url}/v1/batch`, { agent, method: 'POST', headers });
  oracle.noteSent(batch, startedAt);
  const ended = outcomeOf(outgoing).then((outcome) => {
    const attempt = { startedAt, endedAt: performance.now(), outcome, hasRetryAfter: false };
    oracle.noteAttempt(batch, attempt);
    return attempt;
  });
  outgoing.flushHeaders();
  await Promise.race([new Promise((resolve) => outgoing.once('continue', resolve)), ended]);
  outgoing.write(batch.body.slice(0, half));
  return { sendRest: () => outgoing.end(batch.body.slice(half)), ended };
}

function outcomeOf(outgoing: ClientRequest): Promise<Attempt['outcome']> {
  return new Promise((resolve) => {
    outgoing.once('error', (error) => resolve(codeOf(error)));
    outgoing.once('response', (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
  });
}
