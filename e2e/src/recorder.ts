import { EventEmitter, once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { serve, type Served } from './serve.ts';

/** One request as the client sent it, and the status it was answered with. */
export type Exchange = {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  /** Inflated, so that it can be read. */
  body: string;
  status: number;
  startedAt: number;
  answeredAt: number;
};

export type Recorder = Served & {
  exchanges: Exchange[];
  /** Resolves when the exchanges so far are enough; fails when that takes too long. */
  until(areEnough: (exchanges: Exchange[]) => boolean): Promise<void>;
};

export type RecorderOptions = {
  /** Cuts the connection instead of giving the first answer to a POST: the client cannot know that it was stored. */
  losesFirstAnswer?: boolean;
};

const UNTIL_MS = 60_000;

/** Stands between a client and the collector, passes everything on as it is and remembers it. */
export async function recordRequests(upstream: string, options: RecorderOptions = {}): Promise<Recorder> {
  const exchanges: Exchange[] = [];
  const progress = new EventEmitter();
  let answersToLose = options.losesFirstAnswer ? 1 : 0;
  const served = await serve(async (incoming, outgoing) => {
    const startedAt = Date.now();
    const bytes = await buffer(incoming);
    const answer = await passOn(upstream, incoming, bytes);
    const content = await buffer(answer);
    exchanges.push(describe(incoming, bytes, { status: answer.statusCode ?? 0, startedAt }));
    if (incoming.method === 'POST' && answersToLose-- > 0) incoming.socket.destroy();
    else reply(outgoing, answer, content);
    progress.emit('exchange');
  });
  async function until(areEnough: (exchanges: Exchange[]) => boolean): Promise<void> {
    const signal = AbortSignal.timeout(UNTIL_MS);
    while (!areEnough(exchanges)) await once(progress, 'exchange', { signal });
  }
  return { ...served, exchanges, until };
}

async function passOn(upstream: string, incoming: IncomingMessage, bytes: Buffer): Promise<IncomingMessage> {
  const { method = 'GET', url = '/', rawHeaders } = incoming;
  const forwarded = request(upstream + url, { method, headers: rawHeaders, agent: false });
  forwarded.end(bytes);
  const [answer]: IncomingMessage[] = await once(forwarded, 'response');
  if (answer === undefined) throw new Error('a response event brings a response');
  return answer;
}

function reply(outgoing: ServerResponse, answer: IncomingMessage, content: Buffer): void {
  outgoing.writeHead(answer.statusCode ?? 0, answer.rawHeaders);
  outgoing.end(content);
}

function describe(
  { method = '', url = '', headers }: IncomingMessage,
  bytes: Buffer,
  { status, startedAt }: { status: number; startedAt: number },
): Exchange {
  const body = (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
  return { method, path: url, headers, body, status, startedAt, answeredAt: Date.now() };
}
