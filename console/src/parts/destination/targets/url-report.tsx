/** What the check of one URL found. */
import { Button } from '../../button.tsx';
import { Icon } from '../../icon.tsx';
import { Note } from '../../note.tsx';
import { ProblemNote } from '../../problem-note.tsx';
import { StateMark } from '../../state-mark.tsx';
import { visible } from '../../../format/texts.ts';
import look from '../destination.module.css';
import { findingsOf, refusalOf } from './url-words.ts';
import type { UrlState } from './use-url-checks.ts';

export function UrlReport({ url, state }: { url: string; state: UrlState }) {
  if (state.kind === 'off') return null;
  if (state.kind === 'typing') {
    return url.trim() === '' ? null : (
      <p className={`small dim ${look.full}`}>
        A whole URL begins with https:// and a name, such as hooks.example.com.
      </p>
    );
  }
  if (state.kind === 'checking') {
    return (
      <p className={`small dim ${look.full}`} role="status">
        Millrace checks the name, the address and the certificate. It sends nothing.
      </p>
    );
  }
  if (state.kind === 'failed') {
    return (
      <div className={look.full}>
        <ProblemNote error={state.error} what="The URL could not be checked." retry={state.again} />
      </div>
    );
  }
  const refusal = refusalOf(state.check, url);
  const findings = findingsOf(state.check, url);
  return (
    <>
      {findings.length > 0 && (
        <ul className={look.findings}>
          {findings.map(({ key, ok, title, detail }) => (
            <li key={key}>
              <StateMark state={ok ? 'delivered' : key === 'plain' ? 'retrying' : 'givenup'} />
              <span>
                {title}
                <small>{visible(detail)}</small>
              </span>
            </li>
          ))}
        </ul>
      )}
      {refusal !== undefined && (
        <div className={look.full}>
          <Note state="givenup" title={visible(refusal.title)}>
            <Remedy text={refusal.remedy} />
            <span className="block">
              <Button small look="quiet" isBusy={state.isBusy} onClick={state.again}>
                <Icon name="replay" />
                Check again
              </Button>
            </span>
          </Note>
        </div>
      )}
    </>
  );
}

const SETTING = 'MILLRACE_ALLOW_CIDRS';

function Remedy({ text }: { text: string }) {
  const [before = '', after] = text.split(SETTING);
  return (
    <>
      {before}
      {after !== undefined && <code>{SETTING}</code>}
      {after}
    </>
  );
}
