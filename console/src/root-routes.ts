/** The two routes above all others: the root, and the shell that needs a session. */
import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { NotFound } from './shell/not-found.tsx';
import { SignedIn } from './shell/signed-in.tsx';

export const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
export const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: SignedIn });
