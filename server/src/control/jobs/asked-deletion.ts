/** What the request asked for, worked out when it was made: what is set up later is not affected by it. */
export type AskedDeletion = {
  /** Gone when the job has ended. */
  userIds?: string[];
  userHashes: string[];
  sources: string[] | null;
  suppress: boolean;
  erasedBefore: string;
  /** All destinations of the affected sources, and whether they are told. */
  destinations: { sourceId: string; destinationId: string; isTold: boolean }[];
  sourceIds: string[];
};
