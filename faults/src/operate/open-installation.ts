import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { openStore } from '../../../server/src/store/open-store.ts';
import { type ControlClient, controlClient } from '../control-client.ts';
import { enterPlan } from '../deliver/enter-plan.ts';
import {
  type DeliverScene,
  type DeliverSceneShape,
  type EnterNeeds,
  openDeliverScene,
} from '../deliver/open-deliver-scene.ts';
import { isProjected } from '../deliver/open-recorder-scene.ts';
import { controlPortIn } from '../open-control-scene.ts';
import type { FaultRun } from '../run-fault.ts';
import { type ServerProcess, serverProcess, type Settings } from '../server-process.ts';
import type { Database } from '../start-database.ts';
import { waitUntil } from '../wait-until.ts';

const PROJECTED_WITHIN_MS = 60_000;

/** All roles and both engines, with the plan entered over the control API. */
export type Installation = AsyncDisposable & {
  scene: DeliverScene;
  control: ServerProcess;
  /** Starts control once more, perhaps on another database, and asks it as its owner. */
  startControl(database: Database): Promise<ControlClient>;
  /** The settings of the operator's commands. */
  asOperator(database: Database): Settings;
};

export type InstallationShape = Omit<DeliverSceneShape, 'enter'> & {
  database: Database;
  /** The program of control, asked at each start. */
  controlMain?(): string;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function openInstallation(
  run: FaultRun,
  { database, controlMain, ...shape }: InstallationShape,
): Promise<Installation> {
  await using parts = new AsyncDisposableStack();
  const controls = parts.use(new AsyncDisposableStack());
  const token = randomBytes(24).toString('hex');
  const running: { control?: ServerProcess; settings?: Settings; starts: number } = { starts: 0 };
  const startControl = async (on: Database): Promise<ControlClient> => {
    running.starts += 1;
    const settings = { ...running.settings, ...controlSettings(on, token) };
    const log = join(run.dir, `control-${running.starts}.log`);
    const process = controls.use(
      await serverProcess(settings, log, controlMain === undefined ? {} : { main: controlMain }),
    );
    running.control = process;
    return controlClient(`http://127.0.0.1:${controlPortIn(await process.start())}`, token);
  };
  const enter = async ({ port, settings }: EnterNeeds) => {
    running.settings = settings;
    const { plan } = await enterPlan(await startControl(database), shape.plan, port);
    await using store = await openStore(database.serviceUrl);
    await waitUntil('the plan is projected', PROJECTED_WITHIN_MS, () => isProjected(store));
    return plan;
  };
  const scene = parts.use(await openDeliverScene(run, { ...shape, enter }));
  const open = parts.move();
  return {
    scene,
    get control() {
      if (running.control === undefined) throw new Error('there is no control');
      return running.control;
    },
    startControl,
    asOperator: (on) => ({
      ...scene.settings,
      ...controlSettings(on, token),
      MILLRACE_NATS_URL: scene.cluster.adminUrl,
    }),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function controlSettings({ url, serviceUrl }: Database, token: string): Settings {
  return {
    MILLRACE_ROLES: 'control',
    MILLRACE_CONTROL_PORT: '0',
    MILLRACE_DATABASE_URL: serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: url,
    MILLRACE_BOOTSTRAP_TOKEN: token,
    MILLRACE_LOG_LEVEL: 'info',
  };
}
