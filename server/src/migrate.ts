/** `npm run migrate`: brings the database to this version, as the control role does at its start. */
import { readConfig } from './config.ts';
import { migrateDatabase } from './store/migrate-database.ts';

const read = readConfig(undefined, { MILLRACE_ROLES: 'collect' });
if (!read.ok) throw new Error(read.problems.join('\n'));
const { migrationDatabaseUrl, databaseUrl } = read.value.control;
const { applied, alreadyThere } = await migrateDatabase(migrationDatabaseUrl, databaseUrl);
console.log(
  applied.length === 0 ? `nothing to do: ${alreadyThere} migrations are applied` : `applied ${applied.join(', ')}`,
);
