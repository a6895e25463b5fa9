/** What a code means and what to do about it, in the words of the contract. */
import { HELP, type Help, helpCodeOf, PEOPLE } from '@millrace/contract/help';
import { Note } from './note.tsx';
import type { StateName } from './state-mark.tsx';

export function helpOf(code: string): Help | undefined {
  const known = helpCodeOf(code);
  return known === undefined ? undefined : HELP[known];
}

/** Title, cause, remedy and the people who can act; nothing for a code that has no entry. */
export function CodeHelp({ code, state }: { code: string; state?: StateName }) {
  const help = helpOf(code);
  if (help === undefined) return null;
  return (
    <Note {...(state === undefined ? {} : { state })} title={`${help.title}.`}>
      {help.cause} {help.remedy}
      <span className="small dim block">
        {PEOPLE[help.whoCanDoIt]} can do it. <code>{code}</code>
      </span>
    </Note>
  );
}
