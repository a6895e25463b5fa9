import type { Stage } from './console-stage.ts';
import type { Ids } from './screens.ts';
import { waitFor } from './wait-for.ts';

type Named = { items: { id: string; name: string }[] };
type Found = { items: { id: string; messageId: string }[] };

/** Asks the control API with the demo's token. */
export function asker({ url }: Pick<Stage, 'url'>, token: string) {
  return async <Answer>(path: string, body?: object, method = body === undefined ? 'GET' : 'POST'): Promise<Answer> => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
    return (answer.status === 204 ? undefined : await answer.json()) as Answer;
  };
}

/** Ids of things in the demo shop, as soon as there are deliveries in each state. */
export async function findIds(ask: ReturnType<typeof asker>): Promise<Ids> {
  const sources = await ask<Named>('/sources?limit=100');
  const destinations = await ask<Named>('/destinations?limit=100');
  const idOf = ({ items }: Named, wanted: string) => items.find(({ name }) => name === wanted)?.id ?? '';
  const failing = idOf(destinations, 'Orders to ERP');
  const destination = idOf(destinations, 'CRM sync');
  const first = async (path: string): Promise<Found['items'][number]> => {
    let found: Found = { items: [] };
    await waitFor(`${path} has an item`, async () => (found = await ask<Found>(path)).items.length > 0);
    return found.items[0] ?? { id: '', messageId: '' };
  };
  const delivered = await first(`/deliveries?destinationId=${destination}&state=delivered&limit=1`);
  const retrying = await first(
    `/deliveries?destinationId=${failing}&state=retrying&limit=1&event=${encodeURIComponent('Order Completed')}`,
  );
  const definitions = await ask<Named>('/definitions?limit=100');
  const audience = idOf(definitions, 'Big spenders, 30 days');
  const trait = idOf(definitions, 'Orders, 90 days');
  const replay = await first('/replays?limit=1');
  const deletion = await first('/deletion-requests?limit=1');
  return {
    source: idOf(sources, 'Web shop'),
    destination,
    failing,
    delivery: delivered.id,
    retrying: retrying.id,
    messageId: retrying.messageId,
    replay: replay.id,
    deletion: deletion.id,
    audience,
    trait,
    user: await firstMember(ask, audience),
  };
}

/** A user who is in the audience, as soon as there is one. */
export async function firstMember(ask: ReturnType<typeof asker>, audience: string): Promise<string> {
  let found: { items: { userId?: string }[] } = { items: [] };
  await waitFor(`somebody is in ${audience}`, async () => {
    found = await ask<typeof found>(`/definitions/${audience}/members?limit=1`);
    return found.items.length > 0;
  });
  return found.items[0]?.userId ?? '';
}
