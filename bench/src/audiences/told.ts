import type { Receivers } from '../replay/start-receivers.ts';

/** Everything that the webhook has heard, as `user key value` with the time. */
export type Told = { arrivals: readonly (readonly [what: string, at: number])[]; listen(): Promise<void> };

export function openTold(receivers: Receivers): Told {
  const arrivals: [string, number][] = [];
  return {
    arrivals,
    async listen() {
      for (const arrival of await receivers.others()) arrivals.push(arrival);
    },
  };
}
