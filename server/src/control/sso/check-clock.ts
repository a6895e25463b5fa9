import { ProviderTrouble } from './provider-trouble.ts';

/** By how much the clocks of provider and installation may differ. */
export const CLOCK_TOLERANCE_S = 60;

/** The provider has issued the token a moment ago. A wrong clock would make old tokens look new. */
export function checkClock(issuedAt: number, now: Date): void {
  const trouble = clockTrouble(issuedAt, now.getTime() / 1_000);
  if (trouble !== undefined) throw trouble;
}

/** Says by how much the clocks differ; undefined if they do not, or not by more than is tolerated. */
export function clockTrouble(issuedAtS: number, nowS: number): ProviderTrouble | undefined {
  const ahead = Math.round(issuedAtS - nowS);
  if (Math.abs(ahead) <= CLOCK_TOLERANCE_S) return undefined;
  const where = `${Math.abs(ahead)} s ${ahead > 0 ? 'ahead of' : 'behind'}`;
  return new ProviderTrouble(
    'wrong_clock',
    `The clock of the provider is ${where} ours; ${CLOCK_TOLERANCE_S} s are tolerated.`,
  );
}
