/** What became of the deliveries with one error: how many are dead letters, how many Millrace retries. */
import { standingOf } from '../../format/standings.ts';
import type { Delivery, DeliveryDetails, Destination } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Page, reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { STATE_WORDS } from '../../parts/delivery/delivery-words.ts';
import { count } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import styles from './destination.module.css';
import { RedriveDialog } from './redrive-dialog.tsx';

const LOOKED_AT = 100;

type BecameProps = {
  destination: Destination;
  cause: { errorClass: string; firstAt: string; sampleDeliveryId: string };
};

export function Became({ destination, cause }: BecameProps) {
  const [isOpen, setIsOpen] = useState(false);
  const may = useMay('dead-letters:write');
  const counts = useCounts(destination.id, cause.errorClass);
  if (counts === undefined) return <span className="dim">…</span>;
  const { letters, retrying, reason } = counts;
  if (letters + retrying === 0) return <LatestState id={cause.sampleDeliveryId} />;
  return (
    <div className={styles['became']}>
      <div>
        {letters > 0 && <StateText state="givenup">{atLeast(letters)} given up</StateText>}
        {retrying > 0 && <StateText state="retrying">{atLeast(retrying)} retrying</StateText>}
      </div>
      {letters > 0 && may && (
        <Button small onClick={() => setIsOpen(true)}>
          Redrive {atLeast(letters)}…
        </Button>
      )}
      {isOpen && (
        <RedriveDialog
          destination={destination}
          ask={{ destinationId: destination.id, reason, from: cause.firstAt }}
          errorClass={cause.errorClass}
          close={() => setIsOpen(false)}
        />
      )}
    </div>
  );
}

/** The record keeps one error class for each delivery: that of its last answer. */
function useCounts(destinationId: string, errorClass: string) {
  const look = (state: Delivery['state']) => ({
    query: { destinationId, errorClass, state, limit: LOOKED_AT },
    every: 15_000,
  });
  const discarded = useQuery(reading<Page<Delivery>>('/deliveries', look('discarded'))).data?.items.length;
  const expired = useQuery(reading<Page<Delivery>>('/deliveries', look('expired'))).data?.items.length;
  const retrying = useQuery(reading<Page<Delivery>>('/deliveries', look('retrying'))).data?.items.length;
  if (discarded === undefined || expired === undefined || retrying === undefined) return undefined;
  const reason = discarded >= expired ? ('discarded' as const) : ('expired' as const);
  return { letters: Math.max(discarded, expired), retrying, reason };
}

/** With several targets the record may name the error of another one: then the latest delivery tells. */
function LatestState({ id }: { id: string }) {
  const { data } = useQuery(reading<DeliveryDetails>(`/deliveries/${encodeURIComponent(id)}`, { every: 15_000 }));
  if (data === undefined) return <span className="dim">…</span>;
  return (
    <>
      <StateText state={standingOf(data.state).state}>{STATE_WORDS[data.state]}</StateText>
      <span className="sub">is the latest of them</span>
    </>
  );
}

function atLeast(found: number): string {
  return found < LOOKED_AT ? count(found) : `${LOOKED_AT}+`;
}
