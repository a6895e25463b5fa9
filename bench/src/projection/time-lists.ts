import { readNetworks } from '../../../server/src/http/address-policy.ts';
import { hashOfSecret, makeSecret } from '../../../server/src/control/access/secret-text.ts';
import { serveControl } from '../../../server/src/control/serve-control.ts';
import { insertToken } from '../../../server/src/store/tokens.ts';
import type { Scene } from './bench-projection.ts';

const REQUESTS = 200;

/** The lists of the API, one page at random places, one request after the other. */
export async function timeLists(scene: Scene, sourceIds: string[]): Promise<Record<string, { p95Ms: number }>> {
  const token = await addToken(scene);
  const settings = { host: '127.0.0.1', port: 0, maxConnections: 100, trustedProxies: [] };
  await using side = await scene.stream.controlSide();
  const needs = {
    ...scene,
    side,
    networks: readNetworks(''),
    changed: () => undefined,
    laneOf: () => undefined,
    now: () => new Date(),
  };
  await using server = await serveControl(settings, needs);
  const lists: Record<string, (sourceId: string) => string> = {
    sources: (id) => `sources?cursor=${Buffer.from(id).toString('base64url')}`,
    destinations: (id) => `destinations?cursor=${Buffer.from(id.replace('src_', 'dst_')).toString('base64url')}`,
    'destinations of a source': (id) => `destinations?sourceId=${id}`,
  };
  const figures: Record<string, { p95Ms: number }> = {};
  for (const [name, path] of Object.entries(lists)) {
    const times: number[] = [];
    for (let i = 0; i < REQUESTS; i += 1) {
      const id = sourceIds[Math.floor(Math.random() * sourceIds.length)] ?? '';
      const startedAt = performance.now();
      const answer = await fetch(`http://127.0.0.1:${server.port}/api/v1/${path(id)}`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      if (!answer.ok) throw new Error(await answer.text());
      await answer.arrayBuffer();
      times.push(performance.now() - startedAt);
    }
    times.sort((a, b) => a - b);
    figures[name] = { p95Ms: Math.round((times[Math.floor(REQUESTS * 0.95)] ?? Infinity) * 10) / 10 };
  }
  return figures;
}

async function addToken({ store, workspaceId }: Scene): Promise<string> {
  const secret = makeSecret('mlr');
  const rights = { role: 'viewer', scopes: null, expiresAt: null } as const;
  const token = { workspaceId, id: 'tok_bench', name: 'Bench', hint: 'bench', createdBy: 'bench', ...rights };
  await store.asSystem((tx) => insertToken(tx, { ...token, secretHash: hashOfSecret(secret) }));
  return secret;
}
