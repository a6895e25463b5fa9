/** Buttons and links that look like buttons. One of them on a page is `ink`: the thing to do there. */
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ButtonHTMLAttributes, ReactNode } from 'react';

export type Look = 'plain' | 'ink' | 'quiet' | 'danger';
type Shared = { look?: Look; small?: boolean };

type ButtonProps = Shared & ButtonHTMLAttributes<HTMLButtonElement> & { isBusy?: boolean };

export function Button({ look = 'plain', small = false, isBusy = false, disabled, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={[classOf({ look, small }), className ?? ''].join(' ').trim()}
      disabled={disabled === true || isBusy}
      aria-busy={isBusy || undefined}
      {...rest}
    />
  );
}

type LinkButtonProps = Shared & LinkProps & { children: ReactNode };

export function LinkButton({ look = 'plain', small = false, ...rest }: LinkButtonProps) {
  return <Link className={classOf({ look, small })} {...rest} />;
}

export function IconButton({ label, ...rest }: ButtonHTMLAttributes<HTMLButtonElement> & { label: string }) {
  return <button type="button" className="iconbtn" aria-label={label} title={label} {...rest} />;
}

function classOf({ look, small }: { look: Look; small: boolean }): string {
  return ['btn', look === 'plain' ? '' : look, small ? 'sm' : ''].filter((name) => name !== '').join(' ');
}
