/** A workspace with an audience and a trait, and a person in it who has a former name and a device. */
import { randomUUID } from 'node:crypto';
import { makeRequests } from '../src/compute/make-identifies.ts';
import { profileKey } from '../src/compute/profiles/profile-key.ts';
import { allFolded, type Identify, streamsRead } from './audiences.ts';
import { addToken, addWorkspace } from './control.ts';
import { addDefinition } from './definitions.ts';
import { openReceiver, type Received } from './receiver.ts';
import { addDestination, addScene, type Stack } from './stack.ts';
import { until } from './until.ts';

const isDelete = ({ body }: Received) => body.startsWith('{"type":"delete"');

/** Takes notifications of deletion as one status, events as another, and says back what it was sent. */
export async function openTwoMinded(status: { events: number; deletes: number }) {
  const receiver = await openReceiver((one, response) => {
    response.statusCode = isDelete(one) ? status.deletes : status.events;
    response.end(response.statusCode === 204 ? '' : `I got ${one.body}`);
  });
  return { ...receiver, status };
}

type Call = { userId?: string; anonymousId?: string; word: string };

/** The audience sends to a destination that is down and to one that refuses, which belong to a source of their own. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function openErasedBed(stack: Stack) {
  await using opening = new AsyncDisposableStack();
  const store = stack.store();
  // No other test may have them.
  const [USER, FORMER, PHONE] = ['user', 'former-name', 'phone'].map((word) => `${word}-${randomUUID()}`) as [
    string,
    string,
    string,
  ];
  const workspaceId = await addWorkspace(store);
  const tenant = stack.as(await addToken(store, workspaceId, { role: 'owner' }));
  const shop = opening.use(await openReceiver());
  const down = opening.use(await openTwoMinded({ events: 503, deletes: 200 }));
  const refusing = opening.use(await openTwoMinded({ events: 400, deletes: 200 }));
  const scene = await addScene(tenant, shop.url);
  const other = await addScene(tenant, shop.url);
  const downId = await addDestination(tenant, other.sourceId, { targets: [{ url: down.url }] });
  const refusingId = await addDestination(tenant, other.sourceId, { targets: [{ url: refusing.url }] });
  await until(() => tenant.view().destination(refusingId) !== undefined);
  const shared = { workspaceId, destinations: [downId, refusingId] };
  const audience = {
    name: 'Seen',
    kind: 'audience',
    includeAnonymous: true,
    when: { event: 'Seen', atLeast: 1 },
  } as const;
  const trait = { name: 'Last word', kind: 'trait', compute: 'last', event: 'Seen', field: 'properties.word' } as const;
  const definitionId = await addDefinition(store, { ...shared, key: 'seen', definition: audience });
  await addDefinition(store, { ...shared, key: 'last_word', definition: trait });
  await streamsRead(stack);
  const keys = [
    profileKey(workspaceId, 'user', USER),
    profileKey(workspaceId, 'user', FORMER),
    profileKey(workspaceId, 'anonymous', PHONE),
  ];

  const call = async (fields: object) => {
    const status = await tenant.send(scene.writeKey, [fields]);
    if (status !== 200) throw new Error(`collect answered ${status}`);
  };
  const send = ({ word, ...ids }: Call) => call({ type: 'track', event: 'Seen', ...ids, properties: { word } });
  const rowsOf = async (sql: string) => (await stack.sql<{ count: number }>(sql, [keys]))[0]?.count ?? 0;
  const ids = 'profile_key = ANY($1::uuid[])';
  const linked = (count: number) =>
    until(async () => (await rowsOf(`SELECT count(*)::int FROM profiles WHERE ${ids} AND link IS NOT NULL`)) === count);
  const told = (userId: string) =>
    refusing.received
      .map(({ body, headers }) => ({ ...(JSON.parse(body) as Identify), webhookId: headers['webhook-id'] }))
      .filter((each) => each.type === 'identify' && each.userId === userId);

  const open = opening.move();
  return {
    ids: { USER, FORMER, PHONE },
    tenant,
    scene,
    refusing,
    downId,
    refusingId,
    send,
    /** The calls of the audience that the refusing receiver got of a user. */
    told,
    /** Step by step: the streams are read side by side. */
    async makeKnown(): Promise<void> {
      await send({ anonymousId: PHONE, word: 'hello' });
      await until(async () => (await rowsOf(`SELECT count(*)::int FROM profiles WHERE ${ids}`)) === 1);
      await send({ userId: FORMER, anonymousId: PHONE, word: 'hello' });
      await linked(1);
      await call({ type: 'alias', userId: USER, previousId: FORMER });
      await linked(2);
      await send({ userId: USER, word: 'hello' });
      await until(() => told(USER).length === 2);
      // The alias alone may have told both. A call that is folded after an erasure would hide what that takes away.
      await allFolded(stack);
      if (refusing.status.events === 400) await until(async () => (await stack.deadLetterCount(refusingId)) >= 2);
    },
    async counted() {
      const history = () => rowsOf(`SELECT count(*)::int FROM membership_changes WHERE ${ids}`);
      return {
        profiles: await rowsOf(`SELECT count(*)::int FROM profiles WHERE ${ids} AND state IS NOT NULL`),
        memberships: await rowsOf(`SELECT count(*)::int FROM memberships WHERE ${ids}`),
        history: await history(),
      };
    },
    /** Holds the positions of the event streams: requests that come in are stored, and folded when the work is done. */
    whileReadersWait<T>(work: () => Promise<T>): Promise<T> {
      return store.asSystem(async (tx) => {
        await tx.query(`SELECT 1 FROM compute_positions WHERE stream LIKE 'EVENTS%' ORDER BY stream FOR UPDATE`);
        return work();
      });
    },
    /** A request with a call of the user, as a relay makes it that claimed its batch at this time and was slow to store it. */
    async appendClaimedBefore(at: number): Promise<void> {
      const [source] = await stack.sql<{ id: string }>(
        `SELECT id FROM sources WHERE kind = 'computed' AND workspace_id = $1`,
        [workspaceId],
      );
      const [key = ''] = keys;
      const definition = { definition: 1, definitionId, definitionKind: 'audience', definitionKey: 'seen' } as const;
      const transition = {
        ...shared,
        ...definition,
        key,
        kind: 'user',
        id: USER,
        value: true,
        sequence: 9,
        at,
        sendAt: at,
        erasedAt: undefined,
      } as const;
      for (const request of makeRequests({ batch: '9', transitions: [transition] }, source?.id ?? '', at).requests)
        await stack.appendRequest(request);
    },
    /** Whether deliver has taken everything apart. */
    async allRouted(): Promise<boolean> {
      await until(async () => {
        const floors = await Promise.all(
          ['EVENTS-0', 'EVENTS-1'].map(async (stream) => {
            const { state } = await stack.manager.streams.info(stream);
            const { ack_floor: floor } = await stack.manager.consumers.info(stream, 'deliver');
            return floor.stream_seq >= state.last_seq;
          }),
        );
        return floors.every(Boolean);
      });
      return true;
    },
    /** Every id of the person, and the key of each in both ways of writing it. */
    names: () => [
      USER,
      FORMER,
      PHONE,
      ...keys,
      ...keys.map((key) => key.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')),
    ],
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
