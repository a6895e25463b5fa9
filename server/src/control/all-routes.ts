import { definitionRoutes } from './endpoints/audiences/definitions.ts';
import { explainMembershipRoutes } from './endpoints/audiences/explain-membership.ts';
import { membershipRoutes } from './endpoints/audiences/members.ts';
import { previewDefinitionRoutes } from './endpoints/audiences/preview.ts';
import { profileRoutes } from './endpoints/audiences/profiles.ts';
import type { AccountRoute } from './http/account-route.ts';
import { confirmRoutes } from './endpoints/factors/confirm.ts';
import { factorRoutes } from './endpoints/factors/factors.ts';
import { passkeyRoutes } from './endpoints/factors/passkeys.ts';
import { secondStepRoutes } from './endpoints/factors/second-step.ts';
import { attemptNowRoutes } from './endpoints/flow/attempt-now.ts';
import { auditRoutes } from './endpoints/installation/audit.ts';
import { auditStreamRoutes } from './endpoints/installation/audit-streams.ts';
import { installationRoutes } from './endpoints/installation/installation.ts';
import { workspaceEndRoutes } from './endpoints/installation/workspace-ends.ts';
import { operatorRoutes } from './endpoints/installation/operators.ts';
import { configurationRoutes } from './endpoints/flow/configuration.ts';
import { bootstrapRoutes } from './endpoints/people/bootstrap.ts';
import { catalogRoutes } from './endpoints/flow/catalog.ts';
import { deliveryRoutes } from './endpoints/flow/deliveries.ts';
import { metricsRoutes } from './endpoints/flow/delivery-metrics.ts';
import { healthRoutes } from './endpoints/flow/destination-health.ts';
import { deadLetterRoutes } from './endpoints/flow/dead-letters.ts';
import { deletionRoutes } from './endpoints/flow/deletions.ts';
import { destinationMetricsRoutes } from './endpoints/look/destination-metrics.ts';
import { destinationRoutes } from './endpoints/flow/destinations.ts';
import { explainRoutes } from './endpoints/flow/explain.ts';
import { emailChangeRoutes } from './endpoints/people/email-changes.ts';
import { meRoutes } from './endpoints/people/me.ts';
import { limitRoutes } from './endpoints/look/limits.ts';
import { invitationRoutes } from './endpoints/people/invitations.ts';
import { memberLinkRoutes } from './endpoints/people/member-links.ts';
import { memberRoutes } from './endpoints/people/members.ts';
import { ownWorkspaceRoutes } from './endpoints/people/own-workspaces.ts';
import { passwordResetRoutes } from './endpoints/people/password-resets.ts';
import { acceptRoutes } from './endpoints/people/accept-invitation.ts';
import { outcomeStreamRoutes } from './endpoints/look/outcome-stream.ts';
import { overviewRoutes } from './endpoints/look/overview.ts';
import { quarantineRoutes } from './endpoints/flow/quarantine.ts';
import { replayRoutes } from './endpoints/flow/replays.ts';
import type { Route } from './http/route.ts';
import { sessionRoutes } from './endpoints/people/sessions.ts';
import { signInRoutes } from './endpoints/people/sign-in.ts';
import { feedRoutes } from './endpoints/look/feed.ts';
import { sourceSchemaRoutes } from './endpoints/look/source-schema.ts';
import { sourceRoutes } from './endpoints/flow/sources.ts';
import type { StreamRoute } from './http/stream-route.ts';
import { storedEventRoutes } from './endpoints/look/stored-events.ts';
import { suppressionRoutes } from './endpoints/flow/suppressions.ts';
import { checkUpRoutes } from './endpoints/try/check-up.ts';
import { checkUrlRoutes } from './endpoints/try/check-url.ts';
import { previewRoutes } from './endpoints/try/preview.ts';
import { rebuiltRequestRoutes } from './endpoints/try/rebuilt-request.ts';
import { targetHostRoutes } from './endpoints/try/target-hosts.ts';
import { testRoutes } from './endpoints/try/test-destination.ts';
import { systemRoutes } from './endpoints/look/system.ts';
import { tailRoutes } from './endpoints/flow/tail.ts';
import { tokenRoutes } from './endpoints/people/tokens.ts';
import { connectionRoutes } from './endpoints/sso/connection.ts';
import { singleSignInRoutes } from './endpoints/sso/sign-in.ts';
import { workspaceRoutes } from './endpoints/people/workspaces.ts';

/** Every endpoint of a workspace. */
export const ROUTES: readonly Route[] = [
  ...workspaceRoutes,
  ...limitRoutes,
  ...workspaceEndRoutes,
  ...memberRoutes,
  ...memberLinkRoutes,
  ...invitationRoutes,
  ...tokenRoutes,
  ...connectionRoutes,
  ...auditRoutes,
  ...auditStreamRoutes,
  ...catalogRoutes,
  ...sourceRoutes,
  ...sourceSchemaRoutes,
  ...feedRoutes,
  ...destinationRoutes,
  ...checkUrlRoutes,
  ...targetHostRoutes,
  ...testRoutes,
  ...checkUpRoutes,
  ...previewRoutes,
  ...definitionRoutes,
  ...previewDefinitionRoutes,
  ...membershipRoutes,
  ...profileRoutes,
  ...explainMembershipRoutes,
  ...overviewRoutes,
  ...healthRoutes,
  ...destinationMetricsRoutes,
  ...deliveryRoutes,
  ...attemptNowRoutes,
  ...rebuiltRequestRoutes,
  ...explainRoutes,
  ...storedEventRoutes,
  ...metricsRoutes,
  ...deadLetterRoutes,
  ...replayRoutes,
  ...deletionRoutes,
  ...suppressionRoutes,
  ...quarantineRoutes,
  ...systemRoutes,
  ...configurationRoutes,
  ...operatorRoutes,
  ...installationRoutes,
];

/** Every endpoint of a workspace that goes on answering. */
export const STREAM_ROUTES: readonly StreamRoute[] = [...tailRoutes, ...outcomeStreamRoutes];

/** Every endpoint about the user's own account. */
export const ACCOUNT_ROUTES: readonly AccountRoute[] = [
  ...bootstrapRoutes,
  ...signInRoutes,
  ...secondStepRoutes,
  ...singleSignInRoutes,
  ...passwordResetRoutes,
  ...meRoutes,
  ...emailChangeRoutes,
  ...factorRoutes,
  ...confirmRoutes,
  ...passkeyRoutes,
  ...ownWorkspaceRoutes,
  ...acceptRoutes,
  ...sessionRoutes,
];
