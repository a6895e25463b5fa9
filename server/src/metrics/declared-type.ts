export type Declared = {
  kind: 'counter' | 'gauge' | 'histogram';
  label?: string;
  /** Shown as 0 from the start, so that the first one is seen as a rise. */
  values?: readonly string[];
  /** In seconds. */
  buckets?: readonly number[];
  help: string;
};
