/** Why Millrace refused a call, and what to do: the server's sentence has both, the cause first. Below them who can act, and the code. */
import { HELP, helpCodeOf, PEOPLE } from '@millrace/contract/help';
import { OuterText } from '../texts.tsx';

const LONGEST = 400;

export function RefusalText({ code, message }: { code: string; message: string }) {
  const { cause, remedy } = causeAndRemedy(message);
  const known = helpCodeOf(code);
  return (
    <>
      <OuterText text={cause} most={LONGEST} />{' '}
      {remedy !== '' && (
        <b>
          <OuterText text={remedy} most={LONGEST} />
        </b>
      )}
      <span className="small dim block">
        {known !== undefined && <>{PEOPLE[HELP[known].whoCanDoIt]} can do it. </>}
        <code>{code}</code>
      </span>
    </>
  );
}

function causeAndRemedy(message: string): { cause: string; remedy: string } {
  const end = message.indexOf('. ');
  return end < 0
    ? { cause: message, remedy: '' }
    : { cause: message.slice(0, end + 1), remedy: message.slice(end + 2) };
}
