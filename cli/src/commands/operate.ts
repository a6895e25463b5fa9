/** The commands for the operator: they read the server's settings and speak to the engines themselves. */
import type { Command } from 'commander';
import { backupCommand } from './backup.ts';
import { doctorCommand } from './doctor.ts';
import { drillCommand } from './drill.ts';
import { migrateCommand } from './migrate.ts';
import { restoreCommand } from './restore.ts';
import { supportBundleCommand } from './support-bundle.ts';
import { upgradeCheckCommand } from './upgrade-check.ts';

export function operateCommands(): Command[] {
  return [
    doctorCommand(),
    migrateCommand(),
    upgradeCheckCommand(),
    backupCommand(),
    restoreCommand(),
    drillCommand(),
    supportBundleCommand(),
  ];
}
