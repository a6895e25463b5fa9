/** The quantities of a soak, in the order of its plots. */
export type Series = {
  unit: 'MB' | 'count';
  /** Stored by request or by delivery, so that it grows with the load. */
  growsWithLoad?: true;
};

const OF_A_PROCESS = { memory: 'MB', files: 'count', sockets: 'count' } as const;
/** Those that no strike ends: a process that starts anew would hide its leaks. */
export const STAYING = ['collect', 'deliver', 'control'] as const;

export const SERIES: Readonly<Record<string, Series>> = {
  ...Object.fromEntries(
    [...STAYING, 'nats'].flatMap((name) =>
      Object.entries(OF_A_PROCESS).map(([what, unit]) => [`${what} of ${name}`, { unit }] as const),
    ),
  ),
  'subscriptions of nats': { unit: 'count' },
  'connections of PostgreSQL': { unit: 'count' },
  lanes: { unit: 'MB' },
  tickets: { unit: 'count' },
  outcomes: { unit: 'MB' },
  'dead letters and quarantine': { unit: 'count' },
  'event streams': { unit: 'MB', growsWithLoad: true },
  PostgreSQL: { unit: 'MB', growsWithLoad: true },
};

/** The values of all series at a moment; one is missing while its process or engine is away. */
export type Sample = { minute: number; values: Readonly<Record<string, number>> };
