import './theme/tokens.css';
import './theme/mantine.css';
import './theme/base.css';
import './theme/layout.css';
import './theme/figures.css';
import './theme/parts.css';
import './theme/narrow.css';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { setWorkspace } from './api/ask-control.ts';
import { readingMe } from './api/me.ts';
import { readingOverview } from './api/overview.ts';
import { queryClient } from './api/query-client.ts';
import { chosenWorkspace } from './api/session.tsx';
import { router } from './routes.tsx';
import { theme } from './theme/theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has an element with the id root');

const container = root;

/** How long a person sees nothing at most: then the console shows what it has, and what it still waits for. */
const FIRST_RENDER_MS = 400;

// One render with everything that the first screen shows costs half of what two cost, one of them without it.
const isThere = Promise.all([readFirst(), router.load()]);
void Promise.race([isThere, new Promise((over) => setTimeout(over, FIRST_RENDER_MS))]).then(render, render);

/** Reads the answers that the first render needs. The screen reads again what failed, and tells people. */
async function readFirst(): Promise<void> {
  if (['/sign-in', '/setup', '/join', '/forgot-password', '/reset', '/confirm-email'].includes(location.pathname))
    return;
  const me = await queryClient.fetchQuery(readingMe).catch(() => undefined);
  const workspace = me && chosenWorkspace(me);
  if (workspace === undefined) return;
  setWorkspace(workspace.id);
  const overview = queryClient.prefetchQuery(readingOverview());
  // Home is made of it; on the other screens it only adds numbers to the navigation.
  if (location.pathname === '/') await overview;
}

// Mantine's variables are in mantine.css: a style element written by a script would need an exception in the CSP.
function render(): void {
  createRoot(container).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        colorSchemeManager={localStorageColorSchemeManager()}
        withCssVariables={false}
        withGlobalClasses={false}
      >
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
