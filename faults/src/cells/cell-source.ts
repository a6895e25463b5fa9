import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlClient } from '../control-client.ts';
import type { Attempt } from '../oracle.ts';
import { sendRequest } from '../send-request.ts';

export type SentCall = Attempt & { id: string };

/** A source with one destination, and its client. */
export type CellSource = {
  cell: string;
  id: string;
  sent: readonly SentCall[];
  /** One call. Never repeated: a refused one is a refused one. */
  send(): Promise<SentCall>;
  /** Sends so many a second, whatever the answers are, until it is stopped. */
  start(perSecond: number): { stop(): Promise<void> };
};

export type SourceNeeds = { control: ControlClient; collectUrl: string; receiverPort: number };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function sourceIn(cell: string, { control, collectUrl, receiverPort }: SourceNeeds): Promise<CellSource> {
  const { body } = await control.ask('POST', '/api/v1/sources', { name: `In ${cell}`, cell });
  const { id = '', writeKeys = [] } = body;
  const settings = { targets: [{ url: `http://127.0.0.1:${receiverPort}/hook` }] };
  const destination = { sourceId: id, catalog: 'Webhooks', enabled: true, settings };
  const { status } = await control.ask('POST', '/api/v1/destinations', destination);
  if (status !== 201) throw new Error(`the destination in ${cell} was answered ${status}`);
  const writeKey = writeKeys[0]?.key ?? '';
  const agent = new Agent({ keepAlive: true });
  const sent: SentCall[] = [];
  let calls = 0;

  async function send(): Promise<SentCall> {
    calls += 1;
    const messageId = `${cell}-${calls}`;
    const call = { type: 'track', event: 'Sent', userId: messageId, messageId };
    const request = { url: collectUrl, agent, writeKey, body: JSON.stringify({ batch: [call] }) };
    const done = { ...(await sendRequest(request)), id: messageId };
    sent.push(done);
    return done;
  }

  return {
    cell,
    id,
    sent,
    send,
    start(perSecond) {
      const life = new AbortController();
      const underWay = new Set<Promise<unknown>>();
      const running = (async () => {
        const startedAt = performance.now();
        for (let made = 0; !life.signal.aborted; made += 1) {
          const one = send();
          underWay.add(one);
          void one.then(() => underWay.delete(one));
          const dueAt = startedAt + ((made + 1) * 1_000) / perSecond;
          await sleep(Math.max(0, dueAt - performance.now()));
        }
      })();
      return {
        async stop() {
          life.abort();
          await running;
          await Promise.all(underWay);
        },
      };
    },
  };
}
