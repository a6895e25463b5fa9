/** Commands that ask a server: a whole stack with sources, destinations, deliveries and jobs. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { streamsRead } from '../../../server/testing/audiences.ts';
import { addDefinition } from '../../../server/testing/definitions.ts';
import { until } from '../../../server/testing/until.ts';
import { type CliScene, deliveryIn, openScene } from '../open-scene.ts';
import { openPerson, type Person } from '../open-person.ts';
import type { ExampleSetting, OpenSetting } from './setting.ts';

export const setting: ExampleSetting = {
  commands: [
    'login',
    'logout',
    'whoami',
    'send',
    'tail',
    'explain',
    'sources',
    'destinations',
    'hosts',
    'deliveries',
    'outcomes',
    'dead-letters',
    'replay',
    'audiences',
    'profiles',
    'users delete',
    'users status',
    'users list',
    'users unsuppress',
    'export',
    'apply',
    'audit',
    'verify',
  ],
  open: openServer,
};

/** The receiver of the scene verifies no signature, which a check-up finds, and has no file that proves its host. */
export const otherCodes = { 'millrace destinations check-up orders': 6, 'millrace hosts check "$RECEIVER_URL"': 6 };

const PASSWORD = 'correct horse battery staple';

async function openServer(): Promise<OpenSetting> {
  await using opening = new AsyncDisposableStack();
  const scene = opening.use(await openScene());
  const person = opening.use(await openPerson(scene.environment()));
  await addAudiences(scene);
  await addMember(scene, person);
  const env = await variables(scene, person);
  const open = opening.move();
  return {
    async run(line) {
      await resetStates(scene);
      const jobs = line.includes('_JOB') ? await openJobs(scene) : {};
      const isFollowing = /millrace (tail|outcomes)/.test(line);
      const stopSending = isFollowing ? scene.keepSending() : () => undefined;
      return person.shell(line, { env: { ...env, ...jobs } }).finally(stopSending);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Two audiences, and a member of the first. */
async function addAudiences({ stack, web, destinations }: CliScene): Promise<void> {
  const [row] = await stack.sql<{ workspace_id: string }>('SELECT workspace_id FROM sources LIMIT 1');
  const workspaceId = row?.workspace_id ?? '';
  for (const key of ['big_spenders', 'old_audience']) {
    const when = { event: 'Order Completed', sum: 'properties.revenue', window: '30d', atLeast: 10 } as const;
    const definition = { kind: 'audience', name: key, when } as const;
    await addDefinition(stack.store(), { workspaceId, key, destinations: [destinations.orders], definition });
  }
  await streamsRead(stack);
  const order = { type: 'track', userId: 'u1', event: 'Order Completed', properties: { revenue: 20 } };
  await stack.send(web.key, [order]);
  await until(async () => (await stack.sql('SELECT 1 FROM memberships')).length > 0, 60_000);
}

/** Ann, who signs in with a password from a file. */
async function addMember({ stack }: CliScene, { home }: Person): Promise<void> {
  const invited = await stack.get('POST', '/invitations', { email: 'ann@example.com', role: 'developer' });
  await stack.get('POST', '/invitations/accept', { token: invited['token'], name: 'Ann', password: PASSWORD });
  await writeFile(join(home, 'password.txt'), `${PASSWORD}\n`);
}

/** The variables of the examples. */
async function variables(scene: CliScene, { home }: Person): Promise<Record<string, string>> {
  const { stack, destinations, receivers } = scene;
  const idOf = async (path: string, body: object) => String((await stack.get('POST', path, body))['id']);
  const delivered = await deliveryIn(scene, destinations.orders, 'delivered');
  const letters = await lettersOf(scene);
  const [request] = receivers.good.received;
  await writeFile(join(home, 'body.json'), request?.body ?? '');
  return {
    RECEIVER_URL: receivers.good.url,
    DELIVERY: delivered,
    WAITING_DELIVERY: await deliveryIn(scene, destinations.late, 'retrying'),
    DEAD_LETTER: letters[0] ?? '',
    REPLAY: await idOf('/replays', replayOf(scene, 1_000)),
    DELETION: await idOf('/deletion-requests', { userIds: ['suppressed-user'], suppress: true }),
    MILLRACE_SECRET: scene.secret,
    WEBHOOK_ID: String(request?.headers['webhook-id']),
    WEBHOOK_TIMESTAMP: String(request?.headers['webhook-timestamp']),
    WEBHOOK_SIGNATURE: String(request?.headers['webhook-signature']),
  };
}

async function lettersOf({ stack, destinations }: CliScene): Promise<string[]> {
  let letters: string[] = [];
  await until(async () => {
    const path = `/dead-letters?destinationId=${destinations.refusing}`;
    letters = (await stack.get<{ items: { id: string }[] }>('GET', path)).items.map(({ id }) => id);
    return letters.length > 0;
  }, 60_000);
  return letters;
}

function replayOf({ web, destinations }: CliScene, ratePerSecond: number): object {
  const now = Date.now();
  const range = { from: new Date(now - 3_600_000).toISOString(), to: new Date(now).toISOString() };
  return { sourceId: web.id, destinationId: destinations.orders, ...range, ratePerSecond };
}

/** A slow replay still runs when the example looks at it; another one is paused. */
async function openJobs(scene: CliScene): Promise<Record<string, string>> {
  const { stack } = scene;
  const [running, paused] = await Promise.all([1, 2].map(() => stack.get('POST', '/replays', replayOf(scene, 1))));
  await stack.get('POST', `/replays/${String(paused?.['id'])}/pause`);
  return { RUNNING_JOB: String(running?.['id']), PAUSED_JOB: String(paused?.['id']) };
}

/** An example that pauses or disables must not decide what the next one sees. */
async function resetStates({ stack, mobile, destinations }: CliScene): Promise<void> {
  await stack.get('PATCH', `/sources/${mobile.id}`, { enabled: true });
  await stack.get('PATCH', `/destinations/${destinations.orders}`, { enabled: true, paused: false });
}
