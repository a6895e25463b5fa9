import { FAULTS } from './catalog.ts';
import { MATRIX, type Row, TESTED } from './catalog/matrix.ts';

/** A row of the list: a fault as people and programs read it. */
export type ListedFault = {
  fault: string;
  promise: string;
  injects: string;
  against: readonly string[];
  invariants: readonly string[];
  covers: readonly Row[];
  command: string;
};

export type ListedRow = {
  row: Row;
  words: string;
  faults: string[];
  /** The test that injects it in place of a fault. */
  test?: { file: string; test: string };
};

export function listFaults(): ListedFault[] {
  return [...FAULTS].map(([fault, { promise, injects, against, invariants, covers }]) => ({
    fault,
    promise,
    injects,
    against,
    invariants,
    covers,
    command: `npm run faults -- ${fault}`,
  }));
}

/** The matrix, with what injects each of its rows. */
export function listRows(): ListedRow[] {
  const faults = listFaults();
  return (Object.keys(MATRIX) as Row[]).map((row) => {
    const test = TESTED[row];
    return {
      row,
      words: MATRIX[row],
      faults: faults.filter(({ covers }) => covers.includes(row)).map(({ fault }) => fault),
      ...(test === undefined ? {} : { test }),
    };
  });
}
