import type { Source } from '@millrace/contract/control';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Json } from '../../parts/code.tsx';
import { Note } from '../../parts/note.tsx';
import { StateBadge, StateText } from '../../parts/state-mark.tsx';
import { IdText, TimeText } from '../../parts/texts.tsx';
import { useMay } from '../../api/session.tsx';
import { RefusalText } from '../../parts/tail/refusal-text.tsx';
import { StreamText } from '../../parts/tail/stream-text.tsx';
import styles from './new-source.module.css';
import type { FirstCallFound } from './use-first-call.ts';

type FirstCallProps = { source: Source; first: FirstCallFound };

export function FirstCall({ source, first: { call, isFresh, refused, stream } }: FirstCallProps) {
  const maySend = useMay('destinations:write');
  return (
    <Card
      title={call === undefined || isFresh ? '3. First call' : '3. Latest call'}
      right={
        call === undefined ? (
          <StateBadge state="waiting">Waiting for your first call…</StateBadge>
        ) : (
          <StateBadge state="delivered">Arrived</StateBadge>
        )
      }
    >
      <div className={styles.wait} aria-live="polite">
        {call === undefined && refused !== undefined && (
          <Note state="refused" title="A call arrived, and Millrace refused it.">
            <RefusalText code={refused.code ?? ''} message={refused.message ?? ''} />
          </Note>
        )}
        {call === undefined && (
          <p className="soft">
            Run the code above. The call appears here within a second. <StreamText state={stream} />
          </p>
        )}
        {call !== undefined && (
          <>
            <div className={styles.found}>
              <StateText state="delivered">Stored</StateText>
              <span className="tag">{call.type}</span>
              <TimeText at={call.at} toMs />
              {call.messageId !== undefined && <IdText id={call.messageId} />}
            </div>
            <Json value={call.content} label="the call" />
            <div className="btns">
              {maySend && (
                <LinkButton look="ink" to="/destinations/new" search={{ sourceId: source.id }}>
                  Add a destination
                </LinkButton>
              )}
              <LinkButton to="/sources/$id" params={{ id: source.id }}>
                Watch it live
              </LinkButton>
            </div>
          </>
        )}
      </div>
    </Card>
  );
}
