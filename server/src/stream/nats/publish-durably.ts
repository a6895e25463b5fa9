import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connect-nats.ts';
import type { WaitingLine } from './waiting-line.ts';
import type { Publication, PublishAnswer, Publisher } from './publish.ts';

/** The result of a publication that was tried until it was answered or the time was up. */
export type Durable =
  | { kind: 'stored'; sequence: number }
  | { kind: 'full' | 'conflict' | 'refused' | 'unavailable'; description: string };

export type DurableNeeds = { connection: Connection; publisher: Publisher; line: WaitingLine };

/**
 * The most publications without an answer at a time. More would queue in the server for so long that they look unanswered: each
 * would be sent again and again, and every answer would come for a try that was given up.
 */
export const AT_ONCE = 256;
const ANSWER_TIMEOUT_MS = 2_000;
/** After silence: a server that is only slow gets the time that it needs. */
const LONGEST_TIMEOUT_MS = 8_000;
const PAUSE_MS = 100;
/** Longer than an election, which takes four to eight seconds. */
const PATIENCE_MS = 12_000;

/**
 * Publishes until the stream has answered. A publication that got no answer may have been stored already when it is repeated: so it
 * needs an id for the duplicate window, or an expected sequence, or must be harmless twice.
 */
export async function publishDurably(
  publication: Publication,
  needs: DurableNeeds,
  patienceMs = PATIENCE_MS,
): Promise<Durable> {
  let giveUpAt = Infinity;
  for (let timeoutMs = ANSWER_TIMEOUT_MS; ; timeoutMs = Math.min(LONGEST_TIMEOUT_MS, timeoutMs * 2)) {
    await needs.line.enter();
    giveUpAt = Math.min(giveUpAt, performance.now() + patienceMs);
    const answer = await publishOnce(publication, needs, timeoutMs).finally(needs.line.leave);
    switch (answer.kind) {
      case 'stored':
        return { kind: 'stored', sequence: answer.sequence };
      case 'full':
      case 'conflict':
      case 'refused':
        return { kind: answer.kind, description: answer.description };
      case 'no_leader':
      case 'in_process':
      case 'silent':
        if (performance.now() >= giveUpAt) return { kind: 'unavailable', description: answer.description };
        await sleep(PAUSE_MS);
    }
  }
}

type OneAnswer = PublishAnswer | { kind: 'silent'; description: string };

function publishOnce(
  publication: Publication,
  { connection, publisher }: DurableNeeds,
  timeoutMs: number,
): Promise<OneAnswer> {
  // Published without a connection it would be sent at the reconnect, when we may have tried again already.
  if (!connection.isConnected()) {
    return Promise.resolve({ kind: 'silent', description: 'no NATS server can be reached' });
  }
  return new Promise((resolve) => {
    const forget = send(publisher, publication, (answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
    const timer = setTimeout(() => {
      forget();
      resolve({ kind: 'silent', description: `no answer within ${timeoutMs} ms` });
    }, timeoutMs);
  });
}

/** The library throws errors that it finds without the server, such as a message that is too large. */
function send(publisher: Publisher, publication: Publication, answered: (answer: PublishAnswer) => void): () => void {
  try {
    return publisher.publish(publication, answered);
  } catch (error) {
    queueMicrotask(() => answered({ kind: 'refused', description: String(error) }));
    return () => undefined;
  }
}

/** A stream that refuses a message to keep is as good as full. */
export function keptOrNot({ kind }: Durable): 'stored' | 'full' | 'unavailable' {
  if (kind === 'stored') return 'stored';
  return kind === 'unavailable' ? 'unavailable' : 'full';
}
