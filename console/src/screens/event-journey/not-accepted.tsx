/** The journey of a call that Millrace refused, and of a messageId that it does not know. */
import type { Explanation, Source } from '@millrace/contract/control';
import type { Page } from '../../api/queries.ts';
import { nameIn } from '../../format/names.ts';
import { localSentence } from '../../format/sentences.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card, Facts } from '../../parts/card.tsx';
import { Code } from '../../parts/code.tsx';
import { OuterLink, OuterText, TimeText } from '../../parts/texts.tsx';

type Refusal = Explanation['refusals'][number];

type RefusedCallsProps = { refusals: readonly Refusal[]; sources: Page<Source> | undefined };

export function RefusedCalls({ refusals, sources }: RefusedCallsProps) {
  return (
    <div className="stack mt2">
      {refusals.map((refusal) => (
        <Card
          key={refusal.at + refusal.code}
          title="Refused at collection"
          aside={<TimeText at={refusal.at} withDistance />}
        >
          <div className="pad stack">
            <Facts
              facts={[
                [
                  'Source',
                  <OuterLink
                    key="s"
                    to="/sources/$id"
                    params={{ id: refusal.sourceId }}
                    text={nameIn(sources, refusal.sourceId, 'A deleted source')}
                  />,
                ],
                ['Why', <OuterText key="w" text={refusal.message} most={600} />],
                ['Code', <code key="c">{refusal.code}</code>],
              ]}
            />
            {refusal.call !== null && <Code text={refusal.call} label="the beginning of the call" />}
            <p className="small dim">
              Millrace did not store the call, so no destination gets it. Correct it and send it again.
            </p>
          </div>
        </Card>
      ))}
    </div>
  );
}

export function UnknownEvent({ story, isStored }: { story: readonly string[]; isStored: boolean }) {
  return (
    <div className="mt2">
      <Card title={isStored ? 'Why there is no delivery' : 'Possible reasons'}>
        <div className="pad stack">
          {isStored ? (
            <p className="soft">
              The call is stored, but the record has no delivery of it: its source had no destination when it came in,
              or it came in within the last second.
            </p>
          ) : (
            <ul className="soft">
              {story
                .slice(1)
                .flatMap(reasonsIn)
                .map((reason) => (
                  <li key={reason}>{reason}</li>
                ))}
            </ul>
          )}
          <div className="btns">
            <LinkButton to="/events">Search stored events</LinkButton>
            <LinkButton look="quiet" to="/sources">
              Look at the sources
            </LinkButton>
          </div>
        </div>
      </Card>
    </div>
  );
}

/** The API lists the reasons in one sentence with semicolons. */
function reasonsIn(sentence: string): string[] {
  return localSentence(sentence)
    .split(/;\s*(?:or )?/)
    .map((reason) => `${reason.charAt(0).toUpperCase()}${reason.slice(1).replace(/\.$/, '')}.`);
}
