import type { Networks } from '../../http/address-policy.ts';
import { openTxtReader, type TxtReader } from '../../http/read-txt.ts';
import { openProviders, type Providers } from './open-providers.ts';

/** Single sign-on as the endpoints use it; only where the installation knows its own address. */
export type SingleSignOnNeeds = { consoleUrl: string; providers: Providers; readTxt: TxtReader };

export function openSingleSignOn(consoleUrl: string, needs: { networks: Networks; now(): Date }): SingleSignOnNeeds {
  return { consoleUrl, providers: openProviders(needs), readTxt: openTxtReader() };
}

/** A workspace has a redirect URI of its own: an answer of another provider does not fit there. */
export function addressesOf({ consoleUrl }: Pick<SingleSignOnNeeds, 'consoleUrl'>, workspaceId: string) {
  return {
    redirectUri: `${consoleUrl}/sso/${workspaceId}/callback`,
    signedOutUri: `${consoleUrl}/sign-in`,
    signInUrl: `${consoleUrl}/sso/${workspaceId}`,
  };
}
