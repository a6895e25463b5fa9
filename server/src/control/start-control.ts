import { CATALOG } from '@millrace/contract/control';
import type { Cell } from '../domain/configuration.ts';
import { DEMO_TOKEN } from '../secrets/demo-secrets.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import { openTxtReader } from '../http/read-txt.ts';
import { registerCells } from '../store/cells.ts';
import { deleteOldIdempotencyKeys } from '../store/idempotency-keys.ts';
import type { Store, Tx } from '../store/open-store.ts';
import { deleteEndedLinks } from '../store/account-links.ts';
import { deleteOldCodeFailures } from '../store/code-failures.ts';
import { deleteEndedInvitations } from '../store/invitations.ts';
import { deleteEndedMails } from '../store/mails.ts';
import { deleteEndedAttempts } from '../store/sso-attempts.ts';
import { deleteEndedSessions } from '../store/sessions.ts';
import { deleteOldSignInFailures } from '../store/sign-in-failures.ts';
import { deleteEndedTickets } from '../store/sign-in-tickets.ts';
import { useToken } from '../store/tokens.ts';
import { deleteUnconfirmedSeeds } from '../store/totp-seeds.ts';
import { removeMemberless } from '../store/users.ts';
import type { ConfigRoom } from '../stream/config/config-writer.ts';
import type { Asks } from '../stream/signals/asks.ts';
import type { Tails } from '../stream/signals/tail-listener.ts';
import { bootstrap } from './endpoints/people/bootstrap.ts';
import { type LimitsNeeds, openWorkspaceLimits, type WorkspaceLimits } from './limits/workspace-limits.ts';
import { startStreamingAudit } from './audit/stream-audit.ts';
import { openConfigLimits } from './settings/config-limits.ts';
import { startKeepingCells } from './settings/keep-cells.ts';
import { checkKeyRing } from './keys/check-key-ring.ts';
import type { ControlNeeds } from './http/control-needs.ts';
import type { ControlSettings } from './control-settings.ts';
import { type OpenedStore, openStoreWhenUp } from './open-store-when-up.ts';
import type { Projector } from '../projection/project-config.ts';
import { startRotation } from './keys/rotate-ring.ts';
import { openMailer } from './mail/open-mailer.ts';
import { startSendingMails } from './mail/send-mails.ts';
import { openKeyRing } from '../secrets/seal.ts';
import { hashOfSecret } from './access/secret-text.ts';
import { openSingleSignOn } from './sso/single-sign-on.ts';
import { serveControl } from './serve-control.ts';
import { startRemovals } from './jobs/remove-workspaces.ts';
import { startWork } from './jobs/start-work.ts';
import type { ControlSide } from '../stream/open-control-side.ts';

export type Control = AsyncDisposable &
  Pick<ControlNeeds, 'store' | 'keyRing' | 'changed'> &
  Pick<OpenedStore, 'refusal'> & { port: number };

export type StartNeeds = {
  settings: ControlSettings;
  side: ControlSide;
  /** Starts the projector. */
  project(store: Store): Projector;
  laneOf: ControlNeeds['laneOf'];
  definitionsChanged?: NonNullable<ControlNeeds['definitionsChanged']>;
  lanes?: NonNullable<ControlNeeds['lanes']>;
  /** The size of the config bucket; without it only NATS refuses entries. */
  configRoom?(): Promise<ConfigRoom>;
  retryWindowMs?: number;
  sharesProcess?: boolean;
  about?: NonNullable<ControlNeeds['about']>;
  metrics?: Metrics;
  tails?: Tails;
  asks?: Asks;
  log: Logger;
};

const CLEAN_UP_EVERY_MS = 3_600_000;

export async function startControl({
  settings,
  side,
  project,
  configRoom,
  sharesProcess = false,
  log,
  ...given
}: StartNeeds): Promise<Control> {
  await using starting = new AsyncDisposableStack();
  const keyRing = openKeyRing(settings.keys);
  const now = () => new Date(side.now());
  const prepare = async (opened: Store) => {
    await checkKeyRing(opened, keyRing);
    await setUp(opened, settings, now(), log);
  };
  const store = starting.use(await openStoreWhenUp({ ...settings, prepare, sharesProcess, log }));
  starting.use(settings.cells && startKeepingCells({ store, cells: settings.cells, log }));
  const projector = starting.use(project(store));
  const work = starting.use(startWork({ store, side, catalog: CATALOG, now, log }));
  const changed = () => {
    projector.changed();
    work.look();
  };
  const { networks, workspaceCreation = 'operator', workspaceGraceMs, consoleUrl } = settings;
  const grace = workspaceGraceMs === undefined ? {} : { workspaceGraceMs };
  const own = { store, side, keyRing, catalog: CATALOG, networks, workspaceCreation, ...grace, consoleUrl, now, log };
  const limits = starting.use(limitsOf(settings, { store, metrics: given.metrics, log }));
  const bounds = boundsOf(limits, { store, configRoom, log });
  const ways = { ...mailOf(settings), ...signOnOf(settings, now), ...proofOf(settings), ...recordOf(settings) };
  const needs = { ...given, ...own, ...bounds, ...ways, removals: projector.removals, changed };
  starting.use(startRemovals(needs));
  starting.use(startRotation({ ...needs, signedAnew: projector.settled }));
  starting.use(given.asks && startStreamingAudit({ ...needs, asks: given.asks }));
  starting.use(settings.smtp && startSendingMails({ ...needs, mailer: openMailer(settings.smtp) }));
  const { port } = starting.use(await serveControl(settings, needs));
  starting.use(startCleaning(store, log));
  const running = starting.move();
  return { port, store, keyRing, changed, refusal: store.refusal, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function recordOf({ record }: ControlSettings): Pick<ControlNeeds, 'successRowsKept' | 'exportKeptMs'> {
  const { rows, exportRetentionMs } = record;
  return { successRowsKept: rows, ...(exportRetentionMs === undefined ? {} : { exportKeptMs: exportRetentionMs }) };
}

async function setUp(store: Store, settings: ControlSettings, now: Date, log: Logger): Promise<void> {
  const { bootstrapToken, port, cells } = settings;
  if (cells !== undefined) await enterCells(store, cells);
  if (bootstrapToken !== DEMO_TOKEN) await store.asSystem(refuseDemo);
  const first = await bootstrap(store, bootstrapToken, now);
  if (first.kind === 'token-created') log.info({}, 'bootstrap.done');
  // The only secret that we log: a reader of the log of the first start may set the installation up, for a day.
  if (first.kind === 'waiting')
    log.warn({ link: `http://localhost:${port}/setup#token=${first.setupToken}` }, 'setup.waiting');
}

/** A cell that is missing in the settings of this process would leave its sources without configuration and record. */
async function enterCells(store: Store, cells: readonly Cell[]): Promise<void> {
  const missing = await store.asSystem((tx) => registerCells(tx, cells));
  if (missing.length === 0) return;
  const named = missing.map(({ name, sources }) => `${name} (${sources} sources)`).join(', ');
  throw new Error(
    `MILLRACE_CELLS does not name cells that sources are in: ${named}. Name them, or move the sources first`,
  );
}

/** The token of a database that `npm run dev` has set up is public: it is in the source. */
async function refuseDemo(tx: Tx): Promise<void> {
  if ((await useToken(tx, hashOfSecret(DEMO_TOKEN))) === undefined) return;
  throw new Error(
    'the database was set up by npm run dev, whose token everybody knows: revoke that token there, or use another database',
  );
}

function limitsOf({ limits }: ControlSettings, needs: Omit<LimitsNeeds, 'defaults'>): WorkspaceLimits | undefined {
  return limits && openWorkspaceLimits({ ...needs, defaults: limits });
}

function boundsOf(
  limits: WorkspaceLimits | undefined,
  { configRoom, ...needs }: { store: Store; configRoom: StartNeeds['configRoom']; log: Logger },
): Pick<ControlNeeds, 'limits' | 'configLimits'> {
  const own = limits && { limits };
  return { ...own, ...(configRoom && { configLimits: openConfigLimits({ ...needs, configRoom, ...own }) }) };
}

function mailOf({ smtp, consoleUrl }: ControlSettings): Pick<ControlNeeds, 'mail'> {
  return smtp === undefined || consoleUrl === undefined ? {} : { mail: { consoleUrl } };
}

function signOnOf({ consoleUrl, networks }: ControlSettings, now: () => Date): Pick<ControlNeeds, 'singleSignOn'> {
  return consoleUrl === undefined ? {} : { singleSignOn: openSingleSignOn(consoleUrl, { networks, now }) };
}

function proofOf({ hostProof, nameServers }: ControlSettings): Pick<ControlNeeds, 'hostProof'> {
  return hostProof === undefined ? {} : { hostProof: { ...hostProof, readTxt: openTxtReader(nameServers) } };
}

function startCleaning(store: Store, log: Logger): Disposable {
  const cleaning = setInterval(() => void cleanUp(store, log), CLEAN_UP_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(cleaning) };
}

async function cleanUp(store: Store, log: Logger): Promise<void> {
  try {
    await store.asSystem(deleteOldIdempotencyKeys);
    await store.asSystem(deleteEndedSessions);
    await store.asSystem(deleteEndedInvitations);
    await store.asSystem(deleteEndedLinks);
    await store.asSystem(deleteEndedMails);
    await store.asSystem(deleteEndedAttempts);
    const removed = await store.asSystem(removeMemberless);
    if (removed.length > 0) log.info({ userIds: removed }, 'users.removed');
    await store.asSystem(deleteOldSignInFailures);
    await store.asSystem(deleteOldCodeFailures);
    await store.asSystem(deleteEndedTickets);
    await store.asSystem(deleteUnconfirmedSeeds);
  } catch (error) {
    log.warn({ error: error instanceof Error ? error.message : String(error) }, 'clean_up.failed');
  }
}
