/**
 * A budget that sources share by a dynamic threshold: each may hold as much as is still free. A quarter is kept back for sources
 * that hold very little: so a source that is alone gets three eighths, and a newcomer finds room although dozens of others hold on
 * to what they have.
 */
export type FairShares = {
  /** One delivery of this size, until `release` is told the same. */
  hold(share: Amount, bytes: number): void;
  release(share: Amount, bytes: number): void;
  hasRoom(share: Readonly<Amount>): boolean;
};

export type Amount = { deliveries: number; bytes: number };

const KEPT_BACK = 1 / 4;
const VERY_LITTLE = 1 / 200;

export function openFairShares(most: Readonly<Amount>): FairShares {
  const held = newShare();
  return {
    hold(share, bytes) {
      add(share, 1, bytes);
      add(held, 1, bytes);
    },
    release(share, bytes) {
      add(share, -1, -bytes);
      add(held, -1, -bytes);
    },
    hasRoom: (share) =>
      fits(share.deliveries, held.deliveries, most.deliveries) && fits(share.bytes, held.bytes, most.bytes),
  };
}

export function newShare(): Amount {
  return { deliveries: 0, bytes: 0 };
}

function fits(own: number, held: number, most: number): boolean {
  return own < most * (1 - KEPT_BACK) - held || (own < most * VERY_LITTLE && held < most);
}

function add(amount: Amount, deliveries: number, bytes: number): void {
  amount.deliveries += deliveries;
  amount.bytes += bytes;
}
