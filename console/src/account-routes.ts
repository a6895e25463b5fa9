/** The screens before a session: signing in, the first set-up, invitations, and the ways back into an account. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from './root-routes.ts';
import { texts } from './shell/search.ts';

const signInRoute = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: texts('back'),
  component: lazyRouteComponent(() => import('./screens/sign-in/sign-in.tsx'), 'SignIn'),
});
const setUpRoute = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  component: lazyRouteComponent(() => import('./screens/set-up/set-up.tsx'), 'SetUp'),
});
const joinRoute = createRoute({
  getParentRoute: () => root,
  path: '/join',
  component: lazyRouteComponent(() => import('./screens/join/join.tsx'), 'Join'),
});
const forgotPasswordRoute = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./screens/forgot-password/forgot-password.tsx'), 'ForgotPassword'),
});
const resetPasswordRoute = createRoute({
  getParentRoute: () => root,
  path: '/reset',
  component: lazyRouteComponent(() => import('./screens/reset-password/reset-password.tsx'), 'ResetPassword'),
});
const confirmEmailRoute = createRoute({
  getParentRoute: () => root,
  path: '/confirm-email',
  component: lazyRouteComponent(() => import('./screens/confirm-email/confirm-email.tsx'), 'ConfirmEmail'),
});
const singleSignOnRoute = createRoute({
  getParentRoute: () => root,
  path: '/sso',
  component: lazyRouteComponent(() => import('./screens/single-sign-on/find.tsx'), 'FindSignOn'),
});
const workspaceSignOnRoute = createRoute({
  getParentRoute: () => root,
  path: '/sso/$workspaceId',
  component: lazyRouteComponent(() => import('./screens/single-sign-on/begin.tsx'), 'BeginSignOn'),
});
const signedOnRoute = createRoute({
  getParentRoute: () => root,
  path: '/sso/$workspaceId/callback',
  validateSearch: texts('code', 'state', 'iss', 'error'),
  component: lazyRouteComponent(() => import('./screens/single-sign-on/finish.tsx'), 'FinishSignOn'),
});
export const ACCOUNT_ROUTES = [
  signInRoute,
  setUpRoute,
  joinRoute,
  forgotPasswordRoute,
  resetPasswordRoute,
  confirmEmailRoute,
  singleSignOnRoute,
  workspaceSignOnRoute,
  signedOnRoute,
] as const;
