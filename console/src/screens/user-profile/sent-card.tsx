/** The changes of one membership, and the identify calls that told of them. */
import type { Destination, MembershipExplanation } from '@millrace/contract/control';
import { Link } from '@tanstack/react-router';
import { causeWord, changeWord } from '../../parts/audience/change-words.ts';
import { ValueText } from '../../parts/audience/value-text.tsx';
import { Card } from '../../parts/card.tsx';
import { lowerFirst } from '../../format/sentences.ts';
import { standingOf } from '../../format/standings.ts';
import { STATE_WORDS } from '../../parts/delivery/delivery-words.ts';
import { Empty } from '../../parts/list-states.tsx';
import { StateMark, StateText } from '../../parts/state-mark.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import css from './user-profile.module.css';

type SentCardProps = { explanation: MembershipExplanation; destinations: readonly Destination[] };
type Identify = MembershipExplanation['identifies'][number];

export function SentCard({ explanation: { history, identifies, kind }, destinations }: SentCardProps) {
  const names = new Map(destinations.map(({ id, name }) => [id, name]));
  const told = new Map(identifies.map((identify) => [identify.sequence, identify]));
  return (
    <Card title="Changes and what Millrace sent" aside="newest first">
      {history.length === 0 ? (
        <Empty title="Nothing has changed yet">
          As soon as it does, the cause stands here, and each identify call with its deliveries.
        </Empty>
      ) : (
        <div className="tablewrap">
          <table className="folds">
            <thead>
              <tr>
                <th>Change</th>
                <th>When</th>
                <th>Cause</th>
                <th>identify sent to</th>
                <th className="num">Sequence</th>
              </tr>
            </thead>
            <tbody>
              {history.map(({ at, value, sequence, cause, messageId }) => (
                <tr key={sequence}>
                  <td>
                    <b>{kind === 'audience' ? changeWord(value) : <ValueText value={value} most={40} />}</b>
                  </td>
                  <td>
                    <TimeText at={at} />
                  </td>
                  <td data-label="cause">
                    {messageId === null ? (
                      causeWord(cause)
                    ) : (
                      <Link to="/events/$messageId" params={{ messageId }}>
                        {causeWord(cause)}
                      </Link>
                    )}
                  </td>
                  <td data-label="sent">
                    <Sent identify={told.get(sequence)} names={names} />
                  </td>
                  <td className="num" data-label="sequence">
                    {sequence}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

function Sent({ identify, names }: { identify: Identify | undefined; names: ReadonlyMap<string, string> }) {
  if (identify === undefined) return <span className="dim">told with a later change, or to nobody</span>;
  if (identify.isWaiting) return <StateText state="waiting">waits to be sent</StateText>;
  if (identify.deliveries.length === 0)
    return (
      <Link to="/events/$messageId" params={{ messageId: identify.messageId }}>
        identify call
      </Link>
    );
  return (
    <span className={css.sent}>
      {identify.deliveries.map(({ deliveryId, destinationId, state }) => {
        const told = standingOf(state).state;
        return (
          <Link key={deliveryId} className={`state ${told}`} to="/deliveries/$id" params={{ id: deliveryId }}>
            <StateMark state={told} />
            <OuterText text={names.get(destinationId) ?? 'deleted destination'} most={32} />
            {told !== 'delivered' && <span>: {lowerFirst(STATE_WORDS[state])}</span>}
          </Link>
        );
      })}
    </span>
  );
}
