import type { Destination, DestinationHealth } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { hasStatus } from '../../api/look-again.ts';
import { reading } from '../../api/queries.ts';
import { nextLookMs } from './first-health.ts';

/** The health of a destination in its first minutes, from the moment it is enabled. */
export function useFirstHealth(saved: Destination | undefined): DestinationHealth | undefined {
  return useQuery({
    ...reading<DestinationHealth>(`/destinations/${saved?.id ?? ''}/health`, { enabled: saved?.enabled === true }),
    refetchInterval: ({ state: { data, error, dataUpdateCount } }) =>
      hasStatus(error, 403, 404) ? false : nextLookMs(data, dataUpdateCount),
  }).data;
}
