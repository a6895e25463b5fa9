/** The seven states that have a colour, each with its own shape. */
export type StateName = 'delivered' | 'retrying' | 'givenup' | 'waiting' | 'skipped' | 'paused' | 'refused';
