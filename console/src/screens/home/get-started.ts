/** The way from an empty workspace to a first delivered event, as four steps. Pure. */
export type Started = { source: boolean; call: boolean; destination: boolean; delivery: boolean };
export type StepKey = keyof Started;

const STEPS: readonly { key: StepKey; name: string; text: string }[] = [
  { key: 'source', name: 'Add a source', text: 'A source is where calls come from: a site, an app, a service.' },
  {
    key: 'call',
    name: 'Send a first call',
    text: 'The page of the source has the code, and turns green when it arrives.',
  },
  {
    key: 'destination',
    name: 'Add a destination',
    text: 'Millrace checks the URL, the certificate and the signature check of your receiver.',
  },
  { key: 'delivery', name: 'See an event arrive', text: 'Every attempt, with the exact request and response.' },
];

export function stepsOf(started: Started) {
  const now = STEPS.find(({ key }) => !started[key])?.key;
  return STEPS.map((step) => ({
    ...step,
    state: started[step.key] ? ('done' as const) : step.key === now ? ('now' as const) : ('later' as const),
  }));
}
