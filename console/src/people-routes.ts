/** The screens of audiences and profiles. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shell } from './root-routes.ts';
import { texts } from './shell/search.ts';

const audiencesRoute = createRoute({
  getParentRoute: () => shell,
  path: '/audiences',
  validateSearch: texts('filter', 'kind'),
  component: lazyRouteComponent(() => import('./screens/audiences/audiences.tsx'), 'Audiences'),
});
const newAudienceRoute = createRoute({
  getParentRoute: () => shell,
  path: '/audiences/new',
  component: lazyRouteComponent(() => import('./screens/audience-builder/audience-builder.tsx'), 'NewAudience'),
});
const audienceRoute = createRoute({
  getParentRoute: () => shell,
  path: '/audiences/$id',
  validateSearch: texts('range', 'tab'),
  component: lazyRouteComponent(() => import('./screens/audience/audience.tsx'), 'AudienceScreen'),
});
const editAudienceRoute = createRoute({
  getParentRoute: () => shell,
  path: '/audiences/$id/edit',
  component: lazyRouteComponent(() => import('./screens/audience-builder/audience-builder.tsx'), 'EditAudience'),
});
const userProfilesRoute = createRoute({
  getParentRoute: () => shell,
  path: '/profiles',
  component: lazyRouteComponent(() => import('./screens/user-profile/user-profiles.tsx'), 'UserProfiles'),
});
const userProfileRoute = createRoute({
  getParentRoute: () => shell,
  path: '/profiles/$userId',
  validateSearch: texts('kind', 'why'),
  component: lazyRouteComponent(() => import('./screens/user-profile/user-profile.tsx'), 'UserProfile'),
});
export const PEOPLE_ROUTES = [
  audiencesRoute,
  newAudienceRoute,
  audienceRoute,
  editAudienceRoute,
  userProfilesRoute,
  userProfileRoute,
] as const;
