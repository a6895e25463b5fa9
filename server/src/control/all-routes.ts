import type { AccountRoute } from './account-route.ts';
import { auditRoutes } from './audit.ts';
import { bootstrapRoutes } from './bootstrap.ts';
import { catalogRoutes } from './catalog.ts';
import { destinationRoutes } from './destinations.ts';
import { meRoutes } from './me.ts';
import { memberRoutes } from './members.ts';
import type { Route } from './route.ts';
import { sessionRoutes } from './sessions.ts';
import { signInRoutes } from './sign-in.ts';
import { sourceRoutes } from './sources.ts';
import { tokenRoutes } from './tokens.ts';
import { workspaceRoutes } from './workspaces.ts';

/** Every endpoint of a workspace. */
export const ROUTES: readonly Route[] = [
  ...workspaceRoutes,
  ...memberRoutes,
  ...tokenRoutes,
  ...auditRoutes,
  ...catalogRoutes,
  ...sourceRoutes,
  ...destinationRoutes,
];

/** Every endpoint about oneself. */
export const ACCOUNT_ROUTES: readonly AccountRoute[] = [
  ...bootstrapRoutes,
  ...signInRoutes,
  ...meRoutes,
  ...sessionRoutes,
];
