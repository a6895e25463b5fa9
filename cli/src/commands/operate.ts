/** The commands for the operator: they read the server's settings and speak to the engines themselves. */
import type { Command } from 'commander';
import { migrateCommand } from './migrate.ts';

export function operateCommands(): Command[] {
  return [migrateCommand()];
}
