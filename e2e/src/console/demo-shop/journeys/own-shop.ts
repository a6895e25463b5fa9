/** A journey brings a source of its own with its calls, and a receiver that changes its mind. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { DemoStage } from '../../console-stage.ts';
import { asker } from '../../find-ids.ts';
import { waitFor } from '../../wait-for.ts';

export type Call = { userId: string; event: string; properties?: Record<string, unknown> };
export type Received = { headers: IncomingHttpHeaders; body: string };
type Created = { id: string };
type Source = Created & { writeKeys: { key: string }[] };

/** Answers with `status`, which may change at any time. It verifies nothing, and keeps deliveries apart from tests. */
export async function openReceiver(status = 200) {
  const received: Received[] = [];
  const tests: Received[] = [];
  const state = { status };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const list = request.headers['x-millrace-test'] === 'true' ? tests : received;
      list.push({ headers: request.headers, body });
      response.writeHead(state.status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    tests,
    answerWith: (next: number) => (state.status = next),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export async function addSource(stage: DemoStage, name: string) {
  const ask = asker(stage, stage.token);
  const { id, writeKeys } = await ask<Source>('/sources', { name });
  const authorization = `Basic ${Buffer.from(`${writeKeys[0]?.key ?? ''}:`).toString('base64')}`;
  return {
    id,
    name,
    /** Waits until collect knows the new source and takes the calls. */
    async send(calls: readonly Call[]) {
      const body = JSON.stringify({
        batch: calls.map((call) => ({ type: 'track', messageId: randomUUID(), ...call })),
      });
      await waitFor(`collect takes calls of ${name}`, async () => {
        const answer = await fetch(`${stage.collectUrl}/v1/batch`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body,
        });
        return answer.ok;
      });
    },
    async addDestination(wanted: { name: string; url: string }) {
      const { id: destinationId } = await ask<Created>('/destinations', {
        sourceId: id,
        catalog: 'Webhooks',
        name: wanted.name,
        enabled: true,
        settings: { targets: [{ url: wanted.url }], sharedSecret: 'a secret of the journeys' },
      });
      await untilInUse(stage, destinationId);
      return destinationId;
    },
  };
}

/** Deliver sends a test only when it has the latest version of the destination, so an answer proves that it has. */
export async function untilInUse(stage: DemoStage, destinationId: string): Promise<void> {
  const ask = asker(stage, stage.token);
  await waitFor('deliver has the latest version of the destination', () =>
    ask(`/destinations/${destinationId}/test`, {}).then(
      () => true,
      () => false,
    ),
  );
}
