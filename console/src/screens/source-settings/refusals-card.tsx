import { useQuery } from '@tanstack/react-query';
import { reading } from '../../api/queries.ts';
import { count, counted } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { Code } from '../../parts/code.tsx';
import { Empty, ListStates } from '../../parts/list-states.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { IdText, TimeText } from '../../parts/texts.tsx';
import { RefusalText } from '../../parts/tail/refusal-text.tsx';
import { groupRefusals, readable, type RefusalGroup, type RefusalsOf } from './refusal-groups.ts';
import styles from './source-settings.module.css';

export function RefusalsCard({ sourceId }: { sourceId: string }) {
  const refusals = useQuery(reading<RefusalsOf>(`/sources/${sourceId}/refusals`, { every: 10_000 }));
  const groups = refusals.data === undefined ? [] : groupRefusals(refusals.data);
  const total = groups.reduce((sum, group) => sum + group.count, 0);
  return (
    <Card
      title="Refused calls"
      aside={`last seven days${total === 0 ? '' : `: ${count(total)}`}; a few may be missing`}
    >
      <ListStates
        read={refusals}
        failed="The refused calls cannot be shown."
        isEmpty={groups.length === 0}
        empty={
          <Empty title="No refused call in the last seven days">
            Collect refuses a call that it cannot understand, such as a track call without an event name. It tells the
            client why, and shows samples here.
          </Empty>
        }
      >
        <ul>
          {groups.map((group) => (
            <Group key={group.code} group={group} />
          ))}
        </ul>
      </ListStates>
    </Card>
  );
}

function Group({ group: { code, count: calls, days, lastAt, message, samples } }: { group: RefusalGroup }) {
  return (
    <li className={styles.group}>
      <div className={styles.top}>
        <StateText state="refused">{counted(calls, 'call')}</StateText>
        <span className="dim small">
          on {counted(days.length, 'day')}, last <TimeText at={lastAt} withDistance />
        </span>
      </div>
      <p>
        <RefusalText code={code} message={message} />
      </p>
      {samples.length > 0 && (
        <details className={styles.samples}>
          <summary>{counted(samples.length, 'sample')}</summary>
          {samples.map(({ at, call, messageId, message: own }) => (
            <div key={`${at} ${messageId ?? call ?? ''}`} className="stack">
              <div className={styles.top}>
                <TimeText at={at} />
                {messageId !== undefined && <IdText id={messageId} />}
              </div>
              {own !== message && <RefusalText code={code} message={own} />}
              {call === undefined ? (
                <p className="dim">Collect kept nothing of the call itself.</p>
              ) : (
                <Code text={readable(call)} label="the beginning of the call" foldsAfter={14} />
              )}
            </div>
          ))}
        </details>
      )}
    </li>
  );
}
