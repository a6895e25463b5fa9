import { readNetworks } from '../../../server/src/http/address-policy.ts';
import { insertToken } from '../../../server/src/store/tokens.ts';
import { hashOfSecret, makeSecret } from '../../../server/src/control/access/secret-text.ts';
import { NO_ENGINE } from '../../../server/testing/control.ts';
import { serveControl } from '../../../server/src/control/serve-control.ts';
import type { Scene } from './bench-record.ts';
import { dayOf, type RowCount, SHAPE } from './load-rows.ts';

const REQUESTS = 100;

export type Times = Record<string, { medianMs: number; p95Ms: number }>;

/** Every kind of question, at random places, one request after the other, over HTTP. */
export async function timeQuestions(scene: Scene, size: RowCount): Promise<Times> {
  const token = await addToken(scene);
  const settings = { host: '127.0.0.1', port: 0, maxConnections: 100, trustedProxies: [] };
  const told = { networks: readNetworks(''), changed: () => undefined, laneOf: () => undefined, now: () => new Date() };
  await using server = await serveControl(settings, { ...scene, ...told, side: NO_ENGINE });
  const figures: Times = {};
  for (const [name, path] of Object.entries(questions(size))) {
    const times: number[] = [];
    for (let i = 0; i < REQUESTS; i += 1) {
      const startedAt = performance.now();
      const answer = await fetch(`http://127.0.0.1:${server.port}/api/v1/${path()}`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      if (!answer.ok) throw new Error(`${name}: ${await answer.text()}`);
      await answer.arrayBuffer();
      times.push(performance.now() - startedAt);
    }
    figures[name] = summary(times);
    console.log(name, JSON.stringify(figures[name]));
  }
  return figures;
}

function questions({ days, perDay }: RowCount): Record<string, () => string> {
  const any = (below: number) => Math.floor(Math.random() * below);
  const destination = () => `destinationId=dst_${any(SHAPE.destinations)}`;
  const time = () => new Date(Date.now() - any(days * 86_400_000)).toISOString();
  const cursor = () => Buffer.from(`${time()} dlv_00000`).toString('base64url');
  const messageId = () => `m-${dayOf(any(days))}-${any(perDay / 2)}`;
  const list = (query: () => string) => () => `deliveries?${query()}`;
  return {
    newest: list(() => 'limit=50'),
    'at a cursor': list(() => `cursor=${cursor()}`),
    'of a destination': list(destination),
    'of a destination, before a time': list(() => `${destination()}&to=${time()}`),
    'of a destination, discarded': list(() => `destinationId=dst_${any(SHAPE.destinations / 50) * 50}&state=discarded`),
    'of a source': list(() => `sourceId=src_${any(SHAPE.sources)}`),
    expired: list(() => 'state=expired'),
    delivered: list(() => `state=delivered&to=${time()}`),
    'by error class': list(() => `errorClass=http_404&to=${time()}`),
    'of a user': list(() => `userId=user-${any(SHAPE.users)}`),
    'by event name': list(() => `event=Event%20${any(SHAPE.names)}`),
    'by event name, of a destination': list(() => `event=Event%20${any(SHAPE.names)}&${destination()}`),
    'by message': list(() => `messageId=${messageId()}`),
    'of a user that never was': list(() => 'userId=nobody'),
    'of a destination, an error it never had': list(() => 'destinationId=dst_1&errorClass=http_404'),
    explain: () => `events/${messageId()}/explain`,
  };
}

function summary(times: number[]): { medianMs: number; p95Ms: number } {
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round((times[Math.floor(times.length * share)] ?? Infinity) * 10) / 10;
  return { medianMs: at(0.5), p95Ms: at(0.95) };
}

async function addToken({ store, workspaceId }: Scene): Promise<string> {
  const secret = makeSecret('mlr');
  const rights = { role: 'viewer', scopes: null, expiresAt: null } as const;
  const token = { workspaceId, id: 'tok_bench', name: 'Bench', hint: 'bench', createdBy: 'bench', ...rights };
  await store.asSystem((tx) => insertToken(tx, { ...token, secretHash: hashOfSecret(secret) }));
  return secret;
}
