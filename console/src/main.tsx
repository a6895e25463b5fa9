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
import { readingMe } from './api/me.ts';
import { queryClient } from './api/query-client.ts';
import { router } from './routes.tsx';
import { theme } from './theme/theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has an element with the id root');

// Asked before the first render, which takes longer than the answer. A stranger has no session to ask for.
const isForStrangers = ['/sign-in', '/setup', '/join'].includes(location.pathname);
if (!isForStrangers) void queryClient.prefetchQuery(readingMe);

// Mantine's variables are in mantine.css: a style element written by a script would need an exception in the CSP.
createRoot(root).render(
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
