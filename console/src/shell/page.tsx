/** The frame of one page: where it is, its switches, and its content. */
import { useMantineColorScheme } from '@mantine/core';
import { Link, type LinkProps } from '@tanstack/react-router';
import { Fragment, type ReactNode, useEffect } from 'react';
import { IconButton } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { cutText, visible } from '../format/texts.ts';
import { OuterText } from '../parts/texts.tsx';
import { openMenu, openPalette } from './shell-signals.ts';

/** A name may have 200 characters, and more once its invisible ones are written out. */
const TITLE_CHARS = 80;
const CRUMB_CHARS = 60;

export type Crumb = { name: string; to: LinkProps['to']; params?: Record<string, string> };

const PALETTE_KEYS = navigator.platform.startsWith('Mac') ? '⌘K' : 'Ctrl K';

type PageProps = {
  /** The last part of the path, and the title of the window. */
  title: string;
  above?: readonly Crumb[];
  /** Switches at the right of the bar. */
  right?: ReactNode;
  children: ReactNode;
};

export function Page({ title, above = [], right, children }: PageProps) {
  useEffect(() => {
    document.title = `${cutText(visible(title), TITLE_CHARS)} · Millrace`;
  }, [title]);
  return (
    <>
      <header className="bar">
        <button type="button" className="iconbtn burger" aria-label="Menu" onClick={openMenu}>
          <Icon name="burger" />
        </button>
        <nav className="crumbs" aria-label="Path">
          {above.map(({ name, to, params }) => (
            <Fragment key={name}>
              <Link to={to as '/'} params={(params ?? {}) as never} className="wide">
                <OuterText text={name} most={CRUMB_CHARS} />
              </Link>
              <span className="sep wide">/</span>
            </Fragment>
          ))}
          <b>
            <OuterText text={title} most={CRUMB_CHARS} />
          </b>
        </nav>
        <div className="right">
          {right}
          <button type="button" className="find" onClick={openPalette} title="Search or jump to">
            <Icon name="search" />
            <span>Search or jump to</span>
            <kbd>{PALETTE_KEYS}</kbd>
          </button>
          <SchemeSwitch />
        </div>
      </header>
      <main className="page" id="main">
        {children}
      </main>
    </>
  );
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const flip = () => {
    const isDark = document.documentElement.getAttribute('data-mantine-color-scheme') === 'dark';
    setColorScheme(isDark ? 'light' : 'dark');
  };
  return (
    <IconButton label="Switch between light and dark" onClick={flip}>
      <Icon name="sun" />
    </IconButton>
  );
}
