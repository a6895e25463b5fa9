/** The commands that ask a server, in the order of the help. */
import type { Command } from 'commander';
import { loginCommand } from './account/login.ts';
import { logoutCommand } from './account/logout.ts';
import { whoamiCommand } from './account/whoami.ts';
import { audiencesCommand } from './audiences/audiences.ts';
import { auditCommand } from './audit.ts';
import { applyCommand } from './config/apply.ts';
import { exportCommand } from './config/export.ts';
import { deadLettersCommand } from './deliveries/dead-letters.ts';
import { deliveriesCommand } from './deliveries/deliveries.ts';
import { outcomesCommand } from './deliveries/outcomes.ts';
import { replayCommand } from './deliveries/replay.ts';
import { destinationsCommand } from './destinations/destinations.ts';
import { explainCommand } from './events/explain.ts';
import { sendCommand } from './events/send.ts';
import { tailCommand } from './events/tail.ts';
import { hostsCommand } from './hosts.ts';
import { profilesCommand } from './profiles.ts';
import { sourcesCommand } from './sources/sources.ts';
import { usersCommand } from './users.ts';

export function apiCommands(): Command[] {
  return [
    loginCommand(),
    logoutCommand(),
    whoamiCommand(),
    sendCommand(),
    tailCommand(),
    explainCommand(),
    sourcesCommand(),
    destinationsCommand(),
    hostsCommand(),
    deliveriesCommand(),
    outcomesCommand(),
    deadLettersCommand(),
    replayCommand(),
    audiencesCommand(),
    profilesCommand(),
    usersCommand(),
    auditCommand(),
    exportCommand(),
    applyCommand(),
  ];
}
