/** The result of evaluating a sample of profiles. */
export type SampleCount = {
  /** All profiles there are. */
  profiles: number;
  sampled: number;
  /** Of the sampled ones. */
  members: number;
};

/** `low` and `high` hold the true size in 98 of 100 samples. */
export type SizeEstimate = { size: number; low: number; high: number; isExact: boolean };

const Z = 2.33;

/**
 * Wilson's interval with continuity correction: it holds for small shares too, where the usual one has no width when no member was found.
 */
export function estimateSize({ profiles, sampled, members }: SampleCount): SizeEstimate {
  if (sampled >= profiles) return { size: members, low: members, high: members, isExact: true };
  if (sampled === 0) return { size: 0, low: 0, high: profiles, isExact: false };
  // The more of all profiles a sample holds, the less it leaves open.
  const z2 = Z ** 2 * (1 - sampled / profiles);
  const share = members / sampled;
  const variance = z2 - 1 / sampled + 4 * members * (1 - share);
  const spread = (skew: number) => 1 + Math.sqrt(z2 * Math.max(0, variance + skew));
  const scale = profiles / (2 * (sampled + z2));
  const low = Math.floor((2 * members + z2 - spread(4 * share - 2)) * scale);
  const high = Math.ceil((2 * members + z2 + spread(2 - 4 * share)) * scale);
  return {
    size: Math.round(share * profiles),
    // The sampled profiles are certain.
    low: members === 0 ? 0 : Math.max(members, low),
    high: members === sampled ? profiles : Math.min(profiles - (sampled - members), high),
    isExact: false,
  };
}
