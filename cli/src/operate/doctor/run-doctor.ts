/** All checks. Each looks for itself, so one engine that is away hides nothing about the others. */
import type { ConfigRead } from '@millrace/server/config';
import { VERSION } from '@millrace/server/version';
import { checkDatabase } from './check-database.ts';
import { checkMachine } from './check-machine.ts';
import { checkMail } from './check-mail.ts';
import { checkNats } from './check-nats.ts';
import { type Checked, problem, warning } from './finding.ts';

export type Diagnosis = { version: string; at: string; parts: Checked[] };

export type DoctorNeeds = {
  /** As the environment says, and as far as it can be read despite mistakes. */
  read: ConfigRead;
  dataDir: string | undefined;
  /** How long to listen for the heartbeats of processes. */
  listenMs?: number;
  onPart?(part: string): void;
};

export async function runDoctor({ read, dataDir, listenMs, onPart }: DoctorNeeds): Promise<Diagnosis> {
  const parts = [checkSettings(read)];
  if (read.ok) {
    const config = read.value;
    onPart?.('machine');
    parts.push(await checkMachine({ config, dataDir }));
    onPart?.('NATS');
    parts.push(await checkNats(config, listenMs));
    if (config.roles.includes('control')) {
      onPart?.('PostgreSQL');
      parts.push(await checkDatabase(config));
      onPart?.('mail');
      parts.push(await checkMail(config));
    }
  }
  return { version: VERSION, at: new Date().toISOString(), parts };
}

function checkSettings(read: ConfigRead): Checked {
  if (!read.ok) {
    const findings = read.problems.map((what) =>
      problem('settings_invalid', {
        what: `${what}.`,
        why: 'The server does not start with this setting (exit code 78).',
        todo: 'Correct it in the environment; docs/run/settings.md explains every setting.',
      }),
    );
    return { part: 'settings', findings, facts: {} };
  }
  const { shown, mayBeUnsigned } = read.value;
  const findings = mayBeUnsigned
    ? [
        warning('unsigned_allowed', {
          what: 'MILLRACE_UNSIGNED_CONFIG is allow.',
          why: 'Every NATS connection that can write could send the events of a destination elsewhere.',
          todo: 'Remove the setting as soon as the upgrade from a version that signs nothing is done.',
        }),
      ]
    : [];
  return { part: 'settings', findings, facts: { changed: shown.filter(({ isDefault }) => !isDefault) } };
}

export function findingsOf({ parts }: Diagnosis) {
  return parts.flatMap(({ findings }) => findings);
}
