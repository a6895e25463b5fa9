import type { Delivery } from '@millrace/contract/control';
import { memo, type MouseEvent } from 'react';
import { eventName } from '../delivery/delivery-words.ts';
import { count } from '../../format/numbers.ts';
import { DeliveryState } from '../delivery/delivery-state.tsx';
import { OuterLink, OuterText, TimeText } from '../texts.tsx';
import { useSearchChange } from '../use-search-change.ts';

type DeliveryRowProps = { delivery: Delivery; place: number; isShown: boolean; destination?: string };

/** The row opens the drawer, the name the page. Keys do the same: j, k and Enter. */
export const DeliveryRow = memo(function DeliveryRow({ delivery, place, isShown, destination }: DeliveryRowProps) {
  const change = useSearchChange();
  const { id, receivedAt, userId, anonymousId, attempts, nextAt } = delivery;
  const user = userId ?? anonymousId;
  const open = (event: MouseEvent) => {
    const isOther = event.target instanceof Element && event.target.closest('a, button') !== null;
    if (!isOther && window.getSelection()?.toString() === '') change({ show: id });
  };
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- the keys are those of the page, and the name is a link
    <tr className={isShown ? 'sel' : undefined} aria-rowindex={place + 2} data-row={id} onClick={open}>
      <td>
        <TimeText at={receivedAt} />
      </td>
      <td>
        <OuterLink text={eventName(delivery)} most={60} to="/deliveries/$id" params={{ id }} />
      </td>
      <td className="mono">{user === null ? <span className="dim">–</span> : <OuterText text={user} most={40} />}</td>
      {destination !== undefined && (
        <td>
          <OuterLink
            className="plain"
            text={destination}
            most={40}
            to="/destinations/$id"
            params={{ id: delivery.destinationId }}
          />
        </td>
      )}
      <td>
        <DeliveryState delivery={delivery} />
      </td>
      <td className="num">{count(attempts)}</td>
      <td className="num dim">{nextAt === null ? '–' : <TimeText at={nextAt} />}</td>
    </tr>
  );
});
