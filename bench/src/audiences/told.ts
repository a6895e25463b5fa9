import type { Arrival } from '../replay/receiver.ts';
import type { Receivers } from '../replay/start-receivers.ts';

/** Everything that the webhook has heard, as `user key value`. */
export type Told = { arrivals: readonly Readonly<Arrival>[]; listen(): Promise<void> };

export function openTold(receivers: Receivers): Told {
  const arrivals: Arrival[] = [];
  return {
    arrivals,
    async listen() {
      for (const arrival of await receivers.others()) arrivals.push(arrival);
    },
  };
}
