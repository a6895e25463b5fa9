/** The destinations that are told, and attaching another one. */
import { NativeSelect } from '@mantine/core';
import type { Definition, Destination } from '@millrace/contract/control';
import { useState } from 'react';
import { DEFINITIONS } from '../../api/definitions.ts';
import { useChange } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { counted } from '../../format/numbers.ts';
import { cutText, visible } from '../../format/texts.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { tellError } from '../../parts/tell-error.ts';
import { IdText, OuterLink, OuterText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';
import css from './audience.module.css';

type ToldCardProps = { definition: Definition; destinations: readonly Destination[]; isKnown: boolean };

export function ToldCard({ definition, destinations, isKnown }: ToldCardProps) {
  const may = useMay('audiences:write') && definition.state !== 'deleting';
  const change = useChange<string[]>({
    method: 'PATCH',
    path: `${DEFINITIONS}/${definition.id}`,
    body: (next) => ({ destinations: next }),
    renews: [DEFINITIONS],
  });
  const put = (next: string[], text: string) =>
    change.mutate(next, { onSuccess: () => toast({ text }), onError: tellError });
  return (
    <Card
      title="Told to"
      aside={definition.destinations.length === 0 ? undefined : String(definition.destinations.length)}
    >
      {definition.destinations.length === 0 ? (
        <p className="pad soft">
          Nobody yet. A destination that is attached gets every member first, then changes only.
        </p>
      ) : (
        <ul className={css.list}>
          {definition.destinations.map((id) => (
            <li key={id}>
              <Told id={id} destination={destinations.find((each) => each.id === id)} isKnown={isKnown} />
              {may && (
                <Button
                  small
                  look="quiet"
                  isBusy={change.isPending}
                  aria-label={`Detach ${visible(destinations.find((each) => each.id === id)?.name ?? id)}`}
                  onClick={() =>
                    put(
                      definition.destinations.filter((each) => each !== id),
                      'The destination is detached. It keeps what it knows.',
                    )
                  }
                >
                  Detach
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {may && (
        <Attach
          definition={definition}
          destinations={destinations.filter(({ id }) => !definition.destinations.includes(id))}
          isBusy={change.isPending}
          attach={(id) => put([...definition.destinations, id], 'The destination is attached. Its first sync begins.')}
        />
      )}
    </Card>
  );
}

function Told({ id, destination, isKnown }: { id: string; destination: Destination | undefined; isKnown: boolean }) {
  if (destination === undefined)
    return (
      <span>
        <IdText id={id} /> {isKnown && <span className="dim">deleted</span>}
      </span>
    );
  return (
    <span>
      <OuterLink to="/destinations/$id" params={{ id }} text={destination.name} most={40} />
      {!destination.enabled && (
        <>
          {' '}
          <StateText state="skipped">disabled: it is told nothing</StateText>
        </>
      )}
      {destination.enabled && destination.paused && (
        <>
          {' '}
          <StateText state="paused">paused: calls wait</StateText>
        </>
      )}
    </span>
  );
}

type AttachProps = {
  definition: Definition;
  destinations: readonly Destination[];
  isBusy: boolean;
  attach(id: string): void;
};

/** Asks first: every member is sent at once. */
function Attach({ definition, destinations, isBusy, attach }: AttachProps) {
  const [chosen, setChosen] = useState('');
  const [asks, setAsks] = useState(false);
  if (destinations.length === 0) return null;
  const name = destinations.find(({ id }) => id === chosen)?.name ?? '';
  return (
    <div className={`pad ${css.attach}`}>
      <NativeSelect
        aria-label="Destination to attach"
        value={chosen}
        data={[
          { value: '', label: 'another destination' },
          ...destinations.map(({ id, name: each }) => ({ value: id, label: cutText(visible(each), 40) })),
        ]}
        onChange={(event) => setChosen(event.currentTarget.value)}
      />
      <Button disabled={chosen === ''} isBusy={isBusy} onClick={() => setAsks(true)}>
        Attach…
      </Button>
      <Confirm
        title="Attach a destination?"
        isOpen={asks}
        close={() => setAsks(false)}
        verb="Attach it"
        keep="Not now"
        isBusy={isBusy}
        confirm={() => {
          attach(chosen);
          setAsks(false);
          setChosen('');
        }}
      >
        <p>
          <OuterText text={name} most={60} /> gets one identify call for each of {counted(definition.size, 'user')} now,
          then changes only. The destination’s own filter still decides what reaches it.
        </p>
      </Confirm>
    </div>
  );
}
