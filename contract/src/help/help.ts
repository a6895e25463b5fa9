/** One code explained to a person: its meaning, its cause, its remedy, and the people who can act. */
export type Help = {
  /** Plain words, without a full stop. */
  title: string;
  cause: string;
  remedy: string;
  whoCanDoIt: WhoCanDoIt;
};

/** The people who can act, as a console shows them. */
export const PEOPLE = {
  receiver: 'The people who run the receiver',
  destination: 'A member who edits sources and destinations',
  sender: 'The developers of the program that sends the calls',
  operator: 'The people who run Millrace',
  owner: 'An owner or admin of the workspace',
  you: 'You',
} as const;

export type WhoCanDoIt = keyof typeof PEOPLE;
