/** The frame of the console: the navigation at the left, the page at the right, and the layers over both. */
import { Drawer } from '@mantine/core';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { Toasts } from '../parts/toasts.tsx';
import { Ending } from './ending.tsx';
import { Navigation } from './navigation.tsx';
import { NewVersion } from './new-version.tsx';
import { onSignal, openKeys, openPalette } from './shell-signals.ts';
import { useShortcuts } from './use-shortcuts.ts';

const Palette = lazy(() => import('./palette.tsx'));
const Keys = lazy(() => import('./keys.tsx'));

const LAYERS = ['palette', 'menu', 'keys'] as const;
const CLOSE_MENU = { 'aria-label': 'Close the menu' };
type Layer = (typeof LAYERS)[number];

export function Shell() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // A layer belongs to the page that it was opened on: it is gone on the next one.
  const [opened, setOpened] = useState<{ layer: Layer; path: string } | undefined>();
  const layer = opened?.path === path ? opened.layer : undefined;
  useEffect(() => {
    const ends = LAYERS.map((name) => onSignal(name, () => setOpened({ layer: name, path })));
    return () => ends.forEach((end) => end());
  }, [path]);
  useShortcuts({ openPalette, openKeys });
  const close = () => setOpened(undefined);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <div className="shell">
        <Navigation />
        <div className="main">
          <NewVersion />
          <Ending />
          <Outlet />
        </div>
      </div>
      <Drawer
        opened={layer === 'menu'}
        onClose={close}
        size={280}
        title="Menu"
        lockScroll={false}
        closeButtonProps={CLOSE_MENU}
      >
        <Navigation leave={close} />
      </Drawer>
      <Suspense>
        {layer === 'palette' && <Palette close={close} />}
        {layer === 'keys' && <Keys close={close} />}
      </Suspense>
      <Toasts />
    </>
  );
}
