/** Whether the name servers of a domain name a workspace: only then are people led from their address to its provider. */
import { Resolver } from 'node:dns/promises';

export type TxtReader = (name: string) => Promise<string[]>;

/** Of the name servers themselves, as for webhooks. */
export function openTxtReader(servers?: string[]): TxtReader {
  const resolver = new Resolver({ timeout: 1_500, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return async (name) => {
    try {
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
    } catch {
      // A name that is not there, and a server that does not answer: in both cases nothing is proven.
      return [];
    }
  };
}

export function recordOf(domain: string, workspaceId: string): { name: string; value: string } {
  return { name: `_millrace.${domain}`, value: `workspace=${workspaceId}` };
}
