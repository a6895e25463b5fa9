import type { AccountRoute } from './account-route.ts';
import { auditRoutes } from './audit.ts';
import { configurationRoutes } from './configuration.ts';
import { bootstrapRoutes } from './bootstrap.ts';
import { catalogRoutes } from './catalog.ts';
import { deliveryRoutes } from './deliveries.ts';
import { metricsRoutes } from './delivery-metrics.ts';
import { healthRoutes } from './destination-health.ts';
import { deadLetterRoutes } from './dead-letters.ts';
import { deletionRoutes } from './deletions.ts';
import { destinationRoutes } from './destinations.ts';
import { explainRoutes } from './explain.ts';
import { meRoutes } from './me.ts';
import { invitationRoutes } from './invitations.ts';
import { memberRoutes } from './members.ts';
import { acceptRoutes } from './accept-invitation.ts';
import { quarantineRoutes } from './quarantine.ts';
import { replayRoutes } from './replays.ts';
import type { Route } from './route.ts';
import { sessionRoutes } from './sessions.ts';
import { signInRoutes } from './sign-in.ts';
import { sourceRoutes } from './sources.ts';
import type { StreamRoute } from './stream-route.ts';
import { suppressionRoutes } from './suppressions.ts';
import { tailRoutes } from './tail.ts';
import { tokenRoutes } from './tokens.ts';
import { workspaceRoutes } from './workspaces.ts';

/** Every endpoint of a workspace. */
export const ROUTES: readonly Route[] = [
  ...workspaceRoutes,
  ...memberRoutes,
  ...invitationRoutes,
  ...tokenRoutes,
  ...auditRoutes,
  ...catalogRoutes,
  ...sourceRoutes,
  ...destinationRoutes,
  ...healthRoutes,
  ...deliveryRoutes,
  ...explainRoutes,
  ...metricsRoutes,
  ...deadLetterRoutes,
  ...replayRoutes,
  ...deletionRoutes,
  ...suppressionRoutes,
  ...quarantineRoutes,
  ...configurationRoutes,
];

/** Every endpoint of a workspace that goes on answering. */
export const STREAM_ROUTES: readonly StreamRoute[] = [...tailRoutes];

/** Every endpoint about oneself. */
export const ACCOUNT_ROUTES: readonly AccountRoute[] = [
  ...bootstrapRoutes,
  ...signInRoutes,
  ...meRoutes,
  ...acceptRoutes,
  ...sessionRoutes,
];
