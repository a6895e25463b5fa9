/** The commands for the operator: they read the server's settings and speak to the engines themselves. */
import type { Command } from 'commander';
import { backupCommand } from './backup.ts';
import { doctorCommand } from './doctor.ts';
import { drillCommand } from './drill.ts';
import { migrateCommand } from './migrate.ts';
import { restoreCommand } from './restore.ts';

export function operateCommands(): Command[] {
  return [doctorCommand(), migrateCommand(), backupCommand(), restoreCommand(), drillCommand()];
}
