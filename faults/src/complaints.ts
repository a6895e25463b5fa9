export type Complaint = [isTrue: boolean, text: string];

/** The texts of those that are true. */
export function trueOnes(complaints: readonly Complaint[]): string[] {
  return complaints.filter(([isTrue]) => isTrue).map(([, text]) => text);
}
