import type { Destination } from '@millrace/contract/control';
import { type ReactNode, useState } from 'react';
import type { Page } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { cutText, visible } from '../../format/texts.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Empty, ListStates, NoMatch } from '../../parts/list-states.tsx';
import { ChoiceFilter, FilterBar, useSetSearch, useUrlSearch } from '../../parts/lists/url-filters.tsx';
import { LetterDrawer } from './letter-drawer.tsx';
import { LetterRows } from './letter-rows.tsx';
import { classWords, errorClassesOf, isFiltered, REASONS, SPANS, type TellingLetter } from './letters.ts';
import { RedriveDialog } from './redrive-dialog.tsx';
import { RetryOne } from './retry-one.tsx';
import { RetryShown } from './retry-shown.tsx';
import { useLetters } from './use-letters.ts';

const REASON_CHOICES = Object.entries(REASONS).map(([value, { label }]) => ({ value, label }));
const TIMES = Object.entries(SPANS).map(([value, { label }]) => ({ value, label }));
const NO_FILTER = { destinationId: undefined, reason: undefined, errorClass: undefined, range: undefined };

export function LetterList({ list }: { list: Page<Destination> | undefined }) {
  const destinations = list?.items ?? [];
  const search = useUrlSearch();
  const set = useSetSearch();
  const mayRetry = useMay('dead-letters:write');
  const [now] = useState(() => Date.now());
  const [asks, setAsks] = useState<'one' | 'many' | undefined>();
  const { read, filter, told, shown } = useLetters(search, now);
  const errorClass = search.errorClass ?? '';
  const closeDrawer = () => set({ show: undefined });
  return (
    <Card>
      <Filters destinations={destinations} told={told}>
        {mayRetry && shown.length > 0 && (
          <Button look="ink" onClick={() => setAsks('many')}>
            {errorClass === '' ? 'Redrive…' : `Retry these ${shown.length}…`}
          </Button>
        )}
      </Filters>
      <ListStates
        read={read}
        failed="The dead letters cannot be shown."
        isEmpty={shown.length === 0}
        isFiltered={isFiltered(search)}
        empty={<NothingGivenUp />}
        noMatch={
          <NoMatch loosen={() => set(NO_FILTER)}>
            Millrace looked at {told.length} dead letters {read.hasNextPage ? 'so far' : ''} with these filters.
          </NoMatch>
        }
      >
        <LetterRows letters={shown} destinations={list} shown={search.show} show={(id) => set({ show: id })} />
      </ListStates>
      {read.hasNextPage && (
        <div className="pad">
          <Button isBusy={read.isFetchingNextPage} onClick={() => void read.fetchNextPage()}>
            Later ones
          </Button>
        </div>
      )}
      <LetterDrawer
        id={asks === 'one' ? undefined : search.show}
        destinations={destinations}
        close={closeDrawer}
        retry={() => setAsks('one')}
      />
      <RetryOne
        id={asks === 'one' ? search.show : undefined}
        close={(isSent) => {
          setAsks(undefined);
          if (isSent) closeDrawer();
        }}
      />
      {errorClass === '' ? (
        <RedriveDialog
          filter={filter}
          isOpen={asks === 'many'}
          close={() => setAsks(undefined)}
          started={() => setAsks(undefined)}
        />
      ) : (
        <RetryShown letters={shown} errorClass={errorClass} isOpen={asks === 'many'} close={() => setAsks(undefined)} />
      )}
    </Card>
  );
}

type FiltersProps = { destinations: readonly Destination[]; told: readonly TellingLetter[]; children: ReactNode };

function Filters({ destinations, told, children }: FiltersProps) {
  const named = destinations.map(({ id, name }) => ({ value: id, label: cutText(visible(name), 60) }));
  const classes = errorClassesOf(told).map(({ errorClass, count }) => ({
    value: errorClass,
    label: `${cutText(classWords(errorClass), 40)} (${count})`,
  }));
  return (
    <FilterBar action={children}>
      <ChoiceFilter name="destinationId" label="Destination" choices={named} all="All destinations" />
      <ChoiceFilter name="reason" label="Reason" choices={REASON_CHOICES} all="All reasons" />
      <ChoiceFilter name="errorClass" label="Error, of those loaded" choices={classes} all="All errors" />
      <ChoiceFilter name="range" label="Given up" choices={TIMES} all="Any time" />
    </FilterBar>
  );
}

function NothingGivenUp() {
  return (
    <Empty title="No dead letters" action={<LinkButton to="/deliveries">Look at the deliveries</LinkButton>}>
      Millrace keeps a delivery here when it stops trying: the receiver rejected it, four hours passed, or its lane was
      full. You can repair the receiver and send them again within 14 days.
    </Empty>
  );
}
