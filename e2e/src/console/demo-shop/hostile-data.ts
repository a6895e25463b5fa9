/** Names, events and answers that are chosen to harm the person who looks at them. They go through the real APIs. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DemoStage } from '../console-stage.ts';
import { type asker, firstMember } from '../find-ids.ts';
import type { Ids } from '../screens.ts';
import { waitFor } from '../wait-for.ts';

/** The page has this name only if a text of ours ran. */
export const RAN = 'millraceTextRan';
const RUNS = `window.${RAN}=1;alert(1)`;
const TAGS = `<img src=x onerror="${RUNS}"><script>${RUNS}</script>`;
/** A direction override, a zero-width space, an emoji of several parts, a letter with many marks. */
const ODD = `\u202egnp.exe\u200b👩‍👩‍👧 z\u0351\u0362\u0363\u0364\u0365\ufeff`;
/** How the console shows the override. */
export const SHOWN_OVERRIDE = '\\u202e';

const NAME = `${ODD}${TAGS}`.slice(0, 190);
const LONG = `${ODD}${TAGS}${'W'.repeat(10_000)}`;
/** A URL and a header name have narrower rules than a name. */
const URL_PATH = `/${encodeURIComponent(ODD)}/javascript:${RUNS}/%22onmouseover=%22${RUNS}/${'u'.repeat(600)}`;
const HEADER_NAME = `X-!#$%&'*+.^_|~-${'h'.repeat(60)}`;
const MESSAGE_ID = `m ${ODD}${TAGS}`;
export const USER_ID = `user ${ODD}${TAGS}`;

type Ask = ReturnType<typeof asker>;
type Made = { id: string };
type Listed = { items: { id: string; messageId: string }[] };

/** Answers as its path begins: `/fails`, `/refuses`, `/breaks`, and everything else well. */
export async function openHostileReceiver(): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url?.startsWith('/breaks') === true) return void request.socket.destroy();
    const status =
      request.url?.startsWith('/fails') === true ? 500 : request.url?.startsWith('/refuses') === true ? 400 : 200;
    response.writeHead(status, { 'Content-Type': 'text/html', 'X-Evil': TAGS, Server: 's'.repeat(500) });
    response.end(`<!doctype html>${TAGS}${ODD}${LONG}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Returns ids with which every screen shows some of it. */
export async function sendHostileData(stage: DemoStage, ask: Ask, receiverUrl: string): Promise<Ids> {
  const { id } = await ask<Made>('/workspace', { name: NAME }, 'PATCH');
  // The screen of limits lists workspaces with a number of their own.
  await ask(`/operator/workspaces/${id}/limits`, { limits: { jobs: 90 } }, 'PATCH');
  await addMember(stage, ask);
  await ask('/tokens', { name: NAME, role: 'viewer' });
  const { source, writeKey } = await addSource(ask);
  const [destination = '', failing = '', refusing = '', breaking = ''] = await addDestinations(
    ask,
    source,
    receiverUrl,
  );
  const from = new Date().toISOString();
  await waitFor('collect takes the calls', async () => (await sendCalls(stage.collectUrl, writeKey)) === 200);
  const delivered = await first(ask, `/deliveries?destinationId=${destination}&state=delivered&limit=1`);
  const retrying = await first(
    ask,
    `/deliveries?destinationId=${failing}&state=retrying&limit=1&messageId=${encodeURIComponent(MESSAGE_ID)}`,
  );
  await first(ask, `/deliveries?destinationId=${breaking}&state=retrying&limit=1`);
  await first(ask, `/dead-letters?destinationId=${refusing}&limit=1`);
  const replay = await ask<Made>('/replays', {
    sourceId: source,
    destinationId: destination,
    from,
    to: new Date().toISOString(),
    filter: { events: [NAME], userIds: [USER_ID] },
  });
  const deletion = await ask<Made>('/deletion-requests', { userIds: [`gone ${USER_ID}`], suppress: true });
  const { audience, trait } = await addDefinitions(ask, destination);
  const user = await firstMember(ask, audience);
  const ids = { audience, trait, user, source, destination, failing, delivery: delivered.id, retrying: retrying.id };
  return { ...ids, messageId: retrying.messageId, replay: replay.id, deletion: deletion.id };
}

async function addSource(ask: Ask): Promise<{ source: string; writeKey: string }> {
  const { id, writeKeys } = await ask<Made & { writeKeys: { key: string }[] }>('/sources', { name: NAME });
  await ask(`/sources/${id}/write-keys`, { label: NAME });
  await ask(`/sources/${id}/events`, { name: `blocked ${NAME}`, blocked: true });
  return { source: id, writeKey: writeKeys[0]?.key ?? '' };
}

/** One for each way of answering, and one that a filter keeps everything from. */
async function addDestinations(ask: Ask, sourceId: string, receiverUrl: string): Promise<string[]> {
  const rule = { field: `properties.${ODD}`, op: 'equals', value: LONG.slice(0, 900) };
  const ids: string[] = [];
  for (const kind of ['works', 'fails', 'refuses', 'breaks', 'filtered']) {
    const target = { url: `${receiverUrl}/${kind}${URL_PATH}`, headers: { [HEADER_NAME]: TAGS } };
    const settings = { targets: [target], sharedSecret: 'a secret of some length' };
    const filters = kind === 'filtered' ? [rule] : [];
    const body = { sourceId, catalog: 'Webhooks', name: NAME, enabled: true, settings, filters };
    ids.push((await ask<Made>('/destinations', body)).id);
  }
  for (const id of ids) {
    await waitFor('the destination is in use', async () => {
      const { projection } = await ask<{ projection: { state: string } }>(`/destinations/${id}`);
      return projection.state === 'applied';
    });
  }
  return ids;
}

/** An audience of those who sent the hostile event, and a trait with the hostile values of it. */
async function addDefinitions(ask: Ask, destination: string): Promise<{ audience: string; trait: string }> {
  const shared = { name: NAME, destinations: [destination] };
  const inner = await ask<Made>('/definitions', {
    kind: 'audience',
    ...shared,
    name: `inner ${NAME}`.slice(0, 190),
    when: { event: NAME, atLeast: 1 },
  });
  const rule = { field: `properties.${ODD}`, op: 'not_equals', value: LONG.slice(0, 900) };
  const leaves = [
    { event: NAME, where: [rule], atLeast: 1 },
    { not: { trait: ODD, op: 'one_of', values: [TAGS, LONG.slice(0, 900)] } },
    { audience: inner.id },
  ];
  const audience = await ask<Made>('/definitions', { kind: 'audience', ...shared, when: { all: leaves } });
  const trait = await ask<Made>('/definitions', {
    kind: 'trait',
    ...shared,
    name: `trait ${NAME}`.slice(0, 190),
    compute: 'unique_list',
    event: NAME,
    field: 'userId',
  });
  return { audience: audience.id, trait: trait.id };
}

async function first(ask: Ask, path: string): Promise<Listed['items'][number]> {
  let found: Listed = { items: [] };
  await waitFor(`${path} has an item`, async () => (found = await ask<Listed>(path)).items.length > 0);
  return found.items[0] ?? { id: '', messageId: '' };
}

/** An owner with such a name: the navigation greets with it. */
export const HOSTILE_OWNER = { email: 'evil@fernhill.example', password: 'a password of some length' };

async function addMember({ url }: DemoStage, ask: Ask): Promise<void> {
  const { email, password } = HOSTILE_OWNER;
  const { token } = await ask<{ token: string }>('/invitations', { email, role: 'owner' });
  const answer = await fetch(`${url}/api/v1/invitations/accept`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: url, 'Millrace-Csrf': '1' },
    body: JSON.stringify({ token, name: NAME, password }),
  });
  if (!answer.ok) throw new Error(`joining was answered ${answer.status}: ${await answer.text()}`);
}

/** Some are taken, and some are refused with a reason that quotes them. */
async function sendCalls(collectUrl: string, writeKey: string): Promise<number> {
  const values = { [TAGS]: TAGS, [ODD]: [ODD, { [LONG]: null }], constructor: 'x', __proto__: 1, long: LONG };
  const batch = [
    { type: 'track', event: NAME, userId: USER_ID, properties: values, messageId: MESSAGE_ID },
    { type: 'track', event: LONG, userId: USER_ID, properties: {} },
    { type: 'identify', userId: USER_ID, traits: values },
    { type: 'page', name: NAME, userId: 'u'.repeat(5_000), properties: { url: `javascript:${RUNS}` } },
    { type: 'group', groupId: NAME, userId: USER_ID, traits: values },
    { type: 'track', event: NAME, userId: USER_ID, timestamp: TAGS },
    { type: TAGS, event: NAME },
  ];
  const answer = await fetch(`${collectUrl}/v1/batch`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ batch, sentAt: new Date().toISOString() }),
  });
  return answer.status;
}
