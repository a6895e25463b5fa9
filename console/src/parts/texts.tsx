/** Ids, times and texts of others, each in its one form. */
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { cutText, cutUrl, shortId, visible } from '../format/texts.ts';
import { allForms, clockMs, distance, moment } from '../format/times.ts';
import { CopyButton } from './copy-button.tsx';
import { useNow } from './use-now.ts';

/** An id in short, whole in its title and when it is copied. */
export function IdText({ id, copies = true }: { id: string; copies?: boolean }) {
  return (
    <span className="id">
      <bdi title={visible(id)}>{cutText(visible(shortId(id)))}</bdi>
      {copies && <CopyButton text={id} label="Copy the id" />}
    </span>
  );
}

type TimeTextProps = {
  at: string | number | Date;
  /** Also says how far away it is. */
  withDistance?: boolean;
  toMs?: boolean;
};

export function TimeText({ at, withDistance = false, toMs = false }: TimeTextProps) {
  const now = useNow(withDistance ? 1_000 : 60_000);
  return (
    <time dateTime={new Date(at).toISOString()} title={allForms(at)} className="nowrap">
      {toMs ? clockMs(at) : moment(at, now)}
      {withDistance && <span className="dim"> {distance(at, now)}</span>}
    </time>
  );
}

/** A name, a user id or a value that came from outside: only ever text, isolated, the invisible made visible. */
export function OuterText({ text, most = 80 }: { text: string; most?: number }) {
  const shown = visible(text);
  return (
    <bdi className="outer" title={shown.length > most ? shown.slice(0, 2_000) : undefined}>
      {cutText(shown, most)}
    </bdi>
  );
}

export function UrlText({ url, most = 48 }: { url: string; most?: number }) {
  return (
    <bdi className="mono outer" title={visible(url)}>
      {cutUrl(visible(url), most)}
    </bdi>
  );
}

/** A link with text that came from outside. */
export function OuterLink({
  text,
  most,
  ...link
}: LinkProps & { text: string; most?: number; className?: string }): ReactNode {
  return (
    <Link {...link}>
      <OuterText text={text} {...(most === undefined ? {} : { most })} />
    </Link>
  );
}
