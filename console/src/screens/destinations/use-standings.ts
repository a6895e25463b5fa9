import type { Destination, DestinationHealth } from '@millrace/contract/control';
import { useQueries } from '@tanstack/react-query';
import { reading } from '../../api/queries.ts';
import { useNow } from '../../parts/use-now.ts';
import { tellHealth } from '../../parts/destination/health/tell-health.ts';
import { rowEveryMs, type Standing } from './standings.ts';

/** Reads the health of each destination; the list shows names before it is there. */
export function useStandings(destinations: readonly Destination[]): Standing[] {
  const now = useNow(30_000);
  const every = rowEveryMs(destinations.length, 15_000);
  const reads = useQueries({
    queries: destinations.map(({ id }) => reading<DestinationHealth>(`/destinations/${id}/health`, { every })),
  });
  return destinations.map((destination, place) => {
    const health = reads[place]?.data;
    const told = health === undefined ? undefined : tellHealth({ destination, health, now });
    return { destination, health, told };
  });
}
