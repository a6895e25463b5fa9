/** Prints the accounts of a NATS server's configuration: a user for each role, with its permissions under these settings. */
import { readConfig } from './config.ts';
import { renderAccounts } from './stream/layout/render-users.ts';

// It plays no role of its own, so it needs nothing that only control needs.
const read = readConfig(undefined, { MILLRACE_ROLES: 'collect' });
if (!read.ok) throw new Error(read.problems.join('\n'));
// NATS takes a word that begins with $ from its own environment.
const passwordOf = (user: string) => `$NATS_PASSWORD_${user.toUpperCase()}`;
process.stdout.write(
  renderAccounts(read.value.stream, (user) => `user: ${user}, password: ${passwordOf(user)}`, {
    systemPassword: passwordOf('system'),
  }),
);
