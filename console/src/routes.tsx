/** Every screen with its path and the parameters that its URL may have. Each screen is a file of its own that loads when it is opened. */
import { createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { ACCOUNT_ROUTES } from './account-routes.ts';
import { PEOPLE_ROUTES } from './people-routes.ts';
import { root, shell } from './root-routes.ts';
import { parseSearch, stringifySearch, texts } from './shell/search.ts';
import { ScreenError } from './shell/screen-error.tsx';

const homeRoute = createRoute({
  getParentRoute: () => shell,
  path: '/',
  validateSearch: texts('range'),
  component: lazyRouteComponent(() => import('./screens/home/home.tsx'), 'Home'),
});
const profileRoute = createRoute({
  getParentRoute: () => shell,
  path: '/profile',
  component: lazyRouteComponent(() => import('./screens/profile/profile.tsx'), 'Profile'),
});
const sourcesRoute = createRoute({
  getParentRoute: () => shell,
  path: '/sources',
  validateSearch: texts('filter'),
  component: lazyRouteComponent(() => import('./screens/sources/sources.tsx'), 'Sources'),
});
const newSourceRoute = createRoute({
  getParentRoute: () => shell,
  path: '/sources/new',
  validateSearch: texts('sourceId', 'tab'),
  component: lazyRouteComponent(() => import('./screens/new-source/new-source.tsx'), 'NewSource'),
});
const sourceLiveRoute = createRoute({
  getParentRoute: () => shell,
  path: '/sources/$id',
  validateSearch: texts('type', 'event', 'userId', 'only', 'show'),
  component: lazyRouteComponent(() => import('./screens/source-live/source-live.tsx'), 'SourceLive'),
});
const sourceSchemaScreenRoute = createRoute({
  getParentRoute: () => shell,
  path: '/sources/$id/schema',
  validateSearch: texts('filter', 'event'),
  component: lazyRouteComponent(() => import('./screens/source-schema/source-schema.tsx'), 'SourceSchemaScreen'),
});
const sourceSettingsRoute = createRoute({
  getParentRoute: () => shell,
  path: '/sources/$id/settings',
  component: lazyRouteComponent(() => import('./screens/source-settings/source-settings.tsx'), 'SourceSettings'),
});
const catalogRoute = createRoute({
  getParentRoute: () => shell,
  path: '/catalog',
  component: lazyRouteComponent(() => import('./screens/catalog/catalog.tsx'), 'Catalog'),
});
const destinationsRoute = createRoute({
  getParentRoute: () => shell,
  path: '/destinations',
  validateSearch: texts('filter', 'state'),
  component: lazyRouteComponent(() => import('./screens/destinations/destinations.tsx'), 'Destinations'),
});
const newDestinationRoute = createRoute({
  getParentRoute: () => shell,
  path: '/destinations/new',
  validateSearch: texts('sourceId', 'id'),
  component: lazyRouteComponent(() => import('./screens/new-destination/new-destination.tsx'), 'NewDestination'),
});
const destinationScreenRoute = createRoute({
  getParentRoute: () => shell,
  path: '/destinations/$id',
  validateSearch: texts('range', 'redrive'),
  component: lazyRouteComponent(() => import('./screens/destination/destination.tsx'), 'DestinationScreen'),
});
const destinationDeliveriesRoute = createRoute({
  getParentRoute: () => shell,
  path: '/destinations/$id/deliveries',
  validateSearch: texts('state', 'errorClass', 'event', 'userId', 'range', 'show'),
  component: lazyRouteComponent(
    () => import('./screens/destination-deliveries/destination-deliveries.tsx'),
    'DestinationDeliveries',
  ),
});
const destinationTryRoute = createRoute({
  getParentRoute: () => shell,
  path: '/destinations/$id/try',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(() => import('./screens/destination-try/destination-try.tsx'), 'DestinationTry'),
});
const destinationSettingsRoute = createRoute({
  getParentRoute: () => shell,
  path: '/destinations/$id/settings',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(
    () => import('./screens/destination-settings/destination-settings.tsx'),
    'DestinationSettings',
  ),
});
const deliveriesRoute = createRoute({
  getParentRoute: () => shell,
  path: '/deliveries',
  validateSearch: texts(
    'destinationId',
    'sourceId',
    'state',
    'errorClass',
    'event',
    'userId',
    'messageId',
    'range',
    'show',
  ),
  component: lazyRouteComponent(() => import('./screens/deliveries/deliveries.tsx'), 'Deliveries'),
});
const deliveryScreenRoute = createRoute({
  getParentRoute: () => shell,
  path: '/deliveries/$id',
  validateSearch: texts('attempt', 'target'),
  component: lazyRouteComponent(() => import('./screens/delivery/delivery.tsx'), 'DeliveryScreen'),
});
const eventsRoute = createRoute({
  getParentRoute: () => shell,
  path: '/events',
  validateSearch: texts('sourceId', 'userId', 'name', 'type', 'text', 'range', 'show'),
  component: lazyRouteComponent(() => import('./screens/events/events.tsx'), 'Events'),
});
const eventJourneyRoute = createRoute({
  getParentRoute: () => shell,
  path: '/events/$messageId',
  validateSearch: texts('sourceId'),
  component: lazyRouteComponent(() => import('./screens/event-journey/event-journey.tsx'), 'EventJourney'),
});
const deadLettersRoute = createRoute({
  getParentRoute: () => shell,
  path: '/dead-letters',
  validateSearch: texts('destinationId', 'reason', 'errorClass', 'range', 'tab', 'show'),
  component: lazyRouteComponent(() => import('./screens/dead-letters/dead-letters.tsx'), 'DeadLetters'),
});
const replaysRoute = createRoute({
  getParentRoute: () => shell,
  path: '/replays',
  component: lazyRouteComponent(() => import('./screens/replays/replays.tsx'), 'Replays'),
});
const newReplayRoute = createRoute({
  getParentRoute: () => shell,
  path: '/replays/new',
  validateSearch: texts('sourceId', 'destinationId', 'userId', 'event', 'type', 'messageId', 'range', 'from', 'to'),
  component: lazyRouteComponent(() => import('./screens/new-replay/new-replay.tsx'), 'NewReplay'),
});
const replayScreenRoute = createRoute({
  getParentRoute: () => shell,
  path: '/replays/$id',
  component: lazyRouteComponent(() => import('./screens/replay/replay.tsx'), 'ReplayScreen'),
});
const privacyRoute = createRoute({
  getParentRoute: () => shell,
  path: '/privacy',
  validateSearch: texts('userId', 'tab'),
  component: lazyRouteComponent(() => import('./screens/privacy/privacy.tsx'), 'Privacy'),
});
const deletionRoute = createRoute({
  getParentRoute: () => shell,
  path: '/privacy/$id',
  component: lazyRouteComponent(() => import('./screens/deletion/deletion.tsx'), 'Deletion'),
});
const teamRoute = createRoute({
  getParentRoute: () => shell,
  path: '/team',
  validateSearch: texts('tab', 'filter', 'signIns', 'reads', 'show'),
  component: lazyRouteComponent(() => import('./screens/team/team.tsx'), 'Team'),
});
const usageRoute = createRoute({
  getParentRoute: () => shell,
  path: '/usage',
  validateSearch: texts('month'),
  component: lazyRouteComponent(() => import('./screens/usage/usage.tsx'), 'Usage'),
});
const systemScreenRoute = createRoute({
  getParentRoute: () => shell,
  path: '/system',
  validateSearch: texts('tab', 'filter', 'kind', 'show'),
  component: lazyRouteComponent(() => import('./screens/system/system.tsx'), 'SystemScreen'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    ...ACCOUNT_ROUTES,
    shell.addChildren([
      homeRoute,
      profileRoute,
      sourcesRoute,
      newSourceRoute,
      sourceLiveRoute,
      sourceSchemaScreenRoute,
      sourceSettingsRoute,
      catalogRoute,
      destinationsRoute,
      newDestinationRoute,
      destinationScreenRoute,
      destinationDeliveriesRoute,
      destinationTryRoute,
      destinationSettingsRoute,
      deliveriesRoute,
      deliveryScreenRoute,
      eventsRoute,
      eventJourneyRoute,
      deadLettersRoute,
      replaysRoute,
      newReplayRoute,
      replayScreenRoute,
      ...PEOPLE_ROUTES,
      privacyRoute,
      deletionRoute,
      teamRoute,
      usageRoute,
      systemScreenRoute,
    ]),
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultErrorComponent: ScreenError,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
