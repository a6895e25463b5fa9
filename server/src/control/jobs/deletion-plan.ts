/** A deletion request, resolved when it was made: sources and destinations that are created later are not affected. */
export type DeletionPlan = {
  /** With the former names of these users. Gone when the job has ended. */
  userIds?: string[];
  /** Of these users, for events without a userId. Gone as well. */
  anonymousIds?: string[];
  userHashes: string[];
  sources: string[] | null;
  suppress: boolean;
  erasedBefore: string;
  /** All destinations of the affected sources, and whether they are told. */
  destinations: { sourceId: string; destinationId: string; isTold: boolean }[];
  sourceIds: string[];
};
