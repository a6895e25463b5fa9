/** PostgreSQL as control needs it. */
import type { Config } from '@millrace/server/config';
import { readDatabaseState } from '@millrace/server/database-facts';
import { findKeyProblem } from '@millrace/server/key-ring';
import { HOW_TO_MEND, judgeLogin, readLogin } from '@millrace/server/login';
import { type MigrationState, readMigrationState } from '@millrace/server/migrations';
import { wordsOf } from '../unreachable.ts';
import { findUnknownHosts } from './check-hosts.ts';
import { type Checked, type Finding, problem, warning } from './finding.ts';

/** The oldest version that the project still supports. */
const MIN_VERSION = 140_000;

export async function checkDatabase({ control }: Config): Promise<Checked> {
  const { databaseUrl, migrationDatabaseUrl, keys } = control;
  const unknown = await findUnknownHosts('MILLRACE_DATABASE_URL', [databaseUrl]);
  try {
    const state = await readDatabaseState(databaseUrl);
    const migrations = await readMigrationState(migrationDatabaseUrl);
    const isSetUp = migrations.applied.length > 0 && migrations.refused === undefined;
    const findings = [
      ...unknown,
      ...judgeVersion(state.versionNumber, state.version),
      ...judgeMigrations(migrations),
      ...(isSetUp && migrations.pending.length === 0 ? await judgeRights(databaseUrl) : []),
      ...(isSetUp && keys.size > 0 ? await judgeKeys(databaseUrl, keys) : []),
    ];
    return { part: 'database', findings, facts: { ...state, migrations } };
  } catch (error) {
    const finding = problem('database_unreachable', {
      what: `PostgreSQL cannot be used: ${wordsOf(error)}`,
      why: 'Control cannot serve or change anything without it. Collect and deliver go on.',
      todo: 'See that it runs and that MILLRACE_DATABASE_URL names its host, port, database and login; pg_hba.conf must let this machine in.',
    });
    return { part: 'database', findings: [...unknown, finding], facts: {} };
  }
}

function judgeVersion(number: number, version: string): Finding[] {
  if (number >= MIN_VERSION) return [];
  return [
    problem('postgres_old', {
      what: `PostgreSQL is version ${version}.`,
      why: 'Millrace is tested with version 15 and newer, and needs 14.',
      todo: 'Upgrade PostgreSQL with pg_upgrade or a dump.',
    }),
  ];
}

export function judgeMigrations({ pending, unknown, refused }: MigrationState): Finding[] {
  if (refused !== undefined) {
    return [
      problem('migrations_refused', {
        what: `Control does not use this database: ${refused}.`,
        why: 'This version could read or write it wrongly. Collect and deliver go on.',
        todo: 'Run `millrace upgrade-check` with the version that is installed: it says which version to start.',
      }),
    ];
  }
  const findings: Finding[] = [];
  if (pending.length > 0) {
    findings.push(
      problem('migrations_pending', {
        what: `${pending.length} migrations are not applied: ${pending.slice(0, 3).join(', ')}${pending.length > 3 ? ', …' : ''}.`,
        why: 'Control waits until they are.',
        todo: 'Run `millrace migrate`, or start control with a login that may migrate.',
      }),
    );
  }
  if (unknown.length > 0) {
    findings.push(
      warning('migrations_newer', {
        what: `A newer version has applied ${unknown.map(({ name }) => name).join(', ')}.`,
        why: 'This version may work with it; it does not know the new columns.',
        todo: 'Finish the upgrade, or leave it: going back is allowed.',
      }),
    );
  }
  return findings;
}

async function judgeRights(databaseUrl: string): Promise<Finding[]> {
  const { missing, liftable } = judgeLogin(await readLogin(databaseUrl));
  const todo = `${HOW_TO_MEND}.`;
  return [
    ...missing.map((what) =>
      problem('database_fence_missing', {
        what: `In PostgreSQL ${what}.`,
        why: 'Control refuses to start: one mistake in a query would show the data of another workspace, or change the audit log.',
        todo,
      }),
    ),
    ...liftable.map((what) =>
      warning('database_login_too_strong', {
        what: `In PostgreSQL ${what}.`,
        why: 'An attacker who takes over control could switch the fences off.',
        todo,
      }),
    ),
  ];
}

async function judgeKeys(databaseUrl: string, keys: ReadonlyMap<number, Buffer>): Promise<Finding[]> {
  const fault = await findKeyProblem(databaseUrl, keys);
  if (fault === undefined) return [];
  return [
    problem('key_ring_wrong', {
      what: `The key ring does not fit the database: ${fault}.`,
      why: 'Secrets of destinations and write keys cannot be opened, and control refuses to start.',
      todo: 'Set MILLRACE_KEYS to the value that this database was used with; it is in your secret store and nowhere else.',
    }),
  ];
}
