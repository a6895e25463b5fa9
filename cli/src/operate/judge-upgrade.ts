/** Decides the steps of an upgrade to this version, from the processes that run and the state of the database. */
import type { MigrationState } from '@millrace/server/migrations';
import type { NatsFacts } from '@millrace/server/nats-facts';
import { compareVersions, VERSION } from '@millrace/server/version';

export type UpgradeFacts = {
  processes: NatsFacts['processes'];
  natsRightsMissing: number;
  migrations: MigrationState | undefined;
};
export type Upgrade = {
  version: string;
  running: { version: string; roles: string[]; count: number }[];
  /** Why this version must not be started now. */
  blockers: string[];
  /** In this order. */
  steps: string[];
  /** Whether the versions that run now can be started again afterwards. */
  canGoBack: boolean;
};

export function judgeUpgrade({ processes, natsRightsMissing, migrations }: UpgradeFacts, version = VERSION): Upgrade {
  const running = groupByVersion(processes);
  const oldest = running[0]?.version;
  const newest = running.at(-1)?.version;
  const blockers =
    migrations?.refused === undefined ? [] : [`The database does not fit this version: ${migrations.refused}.`];
  if (oldest !== undefined && minorsBetween(oldest, version) > 1) {
    blockers.push(
      `Processes of version ${oldest} run: a version works beside the one before it. Upgrade to each minor version in between first.`,
    );
  }
  const pending = migrations?.pending ?? [];
  const leastVersion = migrations?.leastVersion ?? '0.0.0';
  const canGoBack = oldest === undefined || compareVersions(leastVersion, oldest) <= 0;
  const isDone = pending.length === 0 && running.every((each) => each.version === version);
  const steps = isDone
    ? []
    : [
        'Read CHANGELOG.md, and take a backup: millrace backup --to …',
        ...(natsRightsMissing > 0
          ? [`Print the NATS users with this version and reload NATS: its user lacks ${natsRightsMissing} rights.`]
          : []),
        ...(pending.length > 0
          ? [
              `Apply ${pending.length} migrations: millrace migrate, or start control of this version (${pending.join(', ')}).`,
            ]
          : []),
        ...stepsFor(running, version),
        ...(newest !== undefined && compareVersions(newest, version) > 0
          ? [
              `Version ${newest} runs already, and is newer: this is a way back, which is allowed while the marks allow it.`,
            ]
          : []),
      ];
  return { version, running, blockers, steps, canGoBack };
}

function groupByVersion(processes: UpgradeFacts['processes']): Upgrade['running'] {
  return [...Map.groupBy(processes, (process) => process.version)]
    .map(([each, all]) => ({
      version: each,
      roles: [...new Set(all.flatMap(({ roles }) => roles))].toSorted(),
      count: all.length,
    }))
    .toSorted((one, other) => compareVersions(one.version, other.version));
}

/** Control first: it makes streams and entries that the others read. */
function stepsFor(running: Upgrade['running'], version: string): string[] {
  return ['control', 'collect', 'deliver'].flatMap((role) => {
    const others = running.filter((each) => each.version !== version && each.roles.includes(role));
    return others.length === 0
      ? []
      : [
          `Replace the processes with the role ${role} (${others.map((each) => each.version).join(', ')}), one after the other.`,
        ];
  });
}

/** A major version counts as one step, too. */
function minorsBetween(from: string, to: string): number {
  const [major = 0, minor = 0] = from.split('.').map(Number);
  const [toMajor = 0, toMinor = 0] = to.split('.').map(Number);
  return toMajor === major
    ? Math.abs(toMinor - minor)
    : Math.abs(toMajor - major) + (Math.abs(toMajor - major) > 1 ? 1 : 0);
}
