/** A measure of a stored version. `keepMs` 0: for good. `past`: from when its version is live on. */
export type StoredMeasure = { id: string; keepMs: number; slot: number; past?: MeasurePast };

/** `from`: events before this time are missing. */
export type MeasurePast = { from?: number; fill?: TileFill };

/**
 * The past of the measure is in the tiles of these sources. A profile that has not met the definitions of version `since` has to get it
 * from there.
 */
export type TileFill = { since: number; sources: readonly string[] };
