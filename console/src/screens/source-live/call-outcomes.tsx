/** The outcome of one call at each destination: the record knows best, the tail knows first. */
import type { Destination, Explanation } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { lookWhile } from '../../api/look-again.ts';
import { type Page, reading } from '../../api/queries.ts';
import { standingOf } from '../../format/standings.ts';
import { LinkButton } from '../../parts/button.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { OuterLink, OuterText, TimeText } from '../../parts/texts.tsx';
import { isOver, reasonOf } from './outcome-words.ts';
import styles from './source-live.module.css';
import type { CallRow } from '../../parts/tail/tail-rows.ts';

const LOOK_AGAIN_MS = 3_000;

type Line = {
  id: string;
  name: string;
  deliveryId: string;
  outcome: string;
  detail: string;
  nextAt?: string | undefined;
};

export function CallOutcomes({ sourceId, call }: { sourceId: string; call: CallRow }) {
  const { lines, connected } = useOutcomes(sourceId, call);
  return (
    <div>
      <h3 className={styles.h}>Deliveries</h3>
      {lines.length === 0 && connected === 0 && (
        <p className="soft">
          The call is stored. This source has no destination yet.{' '}
          <LinkButton small to="/destinations/new" search={{ sourceId }}>
            Add a destination
          </LinkButton>
        </p>
      )}
      {lines.length === 0 && connected !== 0 && (
        <p className="soft">The call is stored. No destination has reported yet.</p>
      )}
      <ul className={styles.lines}>
        {lines.map(({ id, name, deliveryId, outcome, detail, nextAt }) => (
          <li key={deliveryId}>
            <StateMark state={standingOf(outcome).state} />
            <b>
              <OuterLink to="/destinations/$id" params={{ id }} text={name} most={40} />
            </b>
            <span className="soft">
              {standingOf(outcome).word}
              {detail !== '' && (
                <>
                  : <OuterText text={detail} most={200} />
                </>
              )}
              {nextAt !== undefined && (
                <>
                  {' '}
                  Next attempt <TimeText at={nextAt} />
                </>
              )}
            </span>
            <OuterLink to="/deliveries/$id" params={{ id: deliveryId }} text="Delivery" />
          </li>
        ))}
      </ul>
    </div>
  );
}

function useOutcomes(sourceId: string, call: CallRow): { lines: Line[]; connected: number | undefined } {
  const destinations = useQuery(
    reading<Page<Static<typeof Destination>>>('/destinations', { query: { sourceId, limit: 100 } }),
  );
  const connected = destinations.data?.items.length;
  const path = `/events/${encodeURIComponent(call.messageId ?? '')}/explain`;
  const record = useQuery({
    ...reading<Explanation>(path, { enabled: call.messageId !== undefined }),
    refetchInterval: lookWhile<Explanation>(LOOK_AGAIN_MS, (data) => !isOver(data, connected)),
  });
  const nameOf = (id: string) => destinations.data?.items.find((one) => one.id === id)?.name ?? id;
  const lines = new Map<string, Line>();
  for (const { destinationId: id, deliveryId, outcome, why, nextAt } of call.outcomes)
    lines.set(deliveryId, { id, name: nameOf(id), deliveryId, outcome, detail: reasonOf(why), nextAt });
  const own = record.data?.messageId === call.messageId ? record.data?.destinations : undefined;
  for (const { destinationId: id, id: deliveryId, destinationName, state, rule, reason, sentence, nextAt } of own ??
    []) {
    const detail = reason === null ? (sentence ?? '') : reasonOf(rule === null ? [reason] : [reason, rule]);
    lines.set(deliveryId, {
      id,
      name: destinationName ?? nameOf(id),
      deliveryId,
      outcome: state,
      detail,
      nextAt: nextAt ?? undefined,
    });
  }
  return { lines: [...lines.values()], connected };
}
