/** A mistake that people make, as data: one text of one file, and its replacement. The runner plants it in a copy of the tree. */
export type PlantedBug = {
  name: string;
  /** The mistake, in words. */
  imitates: string;
  file: string;
  /** Found exactly once in the file. */
  text: string;
  replacement: string;
  /** The part of the suite that has to turn red: a test file, or the name of a fault where only a fault can. */
  check: string;
};

/** Whether the check is a test file; else it is a fault. */
export function isTestFile(check: string): boolean {
  return check.endsWith('.test.ts');
}
