/** What screens that a link opens have in common. */
import { useRouterState } from '@tanstack/react-router';
import { tokenOf } from '../format/link-token.ts';
import { LinkButton } from '../parts/button.tsx';
import { Door } from './door.tsx';

export type LinkToken = { token: string; keep(): void; forget(): void };

/**
 * The token of the link that opened this page; empty if there is none. While its holder signs in it is kept
 * under that name, in this tab only: a token never belongs into the query of a URL.
 */
export function useLinkToken(keptAs: string): LinkToken {
  const token = useFragmentToken() || (sessionStorage.getItem(keptAs) ?? '');
  return {
    token,
    keep: () => sessionStorage.setItem(keptAs, token),
    forget: () => sessionStorage.removeItem(keptAs),
  };
}

export function useFragmentToken(): string {
  return tokenOf(`#${useRouterState({ select: ({ location }) => location.hash })}`);
}

type NoLinkDoorProps = { needs: string; to: '/sign-in' | '/forgot-password'; children: string };

/** For somebody who came without the token of a link: the next step is the button. */
export function NoLinkDoor({ needs, to, children }: NoLinkDoorProps) {
  return (
    <Door
      title={`This page needs ${needs}`}
      sub="Open the whole link that you were sent. It holds a token after the # sign, which some programs cut off."
    >
      <LinkButton to={to}>{children}</LinkButton>
    </Door>
  );
}
