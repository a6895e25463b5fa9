/** The moment at which all waiting ends. An AbortSignal would do the same, at several times the cost for each request. */
export type GivingUp = { isOver: boolean; acts: Set<() => void> };

export function makeGivingUp(): GivingUp {
  return { isOver: false, acts: new Set() };
}

export function giveUpAll(giving: GivingUp): void {
  giving.isOver = true;
  for (const act of giving.acts) act();
}
