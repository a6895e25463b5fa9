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
