import type { Source } from '@millrace/contract/control';
import { useCallback, useRef, useState } from 'react';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Empty, NoMatch } from '../../parts/list-states.tsx';
import { SourceTabs } from '../../parts/source-tabs.tsx';
import { CallDrawer } from './call-drawer.tsx';
import { type ChangeSearch, inWords, isFiltered, type LiveSearch } from './live-search.ts';
import styles from './source-live.module.css';
import { TailFilters } from './tail-filters.tsx';
import { showId, type TailRow } from '../../parts/tail/tail-rows.ts';
import { TailSentence } from './tail-sentence.tsx';
import { TailStatus } from './tail-status.tsx';
import { TailTable } from './tail-table.tsx';
import { useHeldRows } from './use-held-rows.ts';
import { useTail } from '../../parts/tail/use-tail.ts';
import { useTailKeys } from './use-tail-keys.ts';

type LiveTailProps = { source: Source; search: LiveSearch; change: ChangeSearch };

export function LiveTail({ source, search, change }: LiveTailProps) {
  const tail = useTail(source.id, search);
  const [isPaused, setIsPaused] = useState(false);
  const [isResting, setIsResting] = useState(false);
  const [isScrolled, setIsScrolled] = useState(false);
  const scroller = useRef<HTMLDivElement>(null);
  const held = useHeldRows(tail, isPaused || isResting || isScrolled || search.show !== undefined);
  const shown = only(held.shown, search.only);
  const pause = useCallback(() => setIsPaused((before) => !before), []);
  const choose = useCallback((show: string) => change({ show }), [change]);
  useTailKeys({ pause });
  const showFresh = () => {
    setIsPaused(false);
    held.showFresh();
    scroller.current?.scrollTo({ top: 0 });
  };
  return (
    <>
      <TailSentence
        source={source}
        tail={tail}
        rows={held.shown}
        isNarrowed={isFiltered({ ...search, only: undefined })}
        actions={
          <Button onClick={pause} aria-pressed={isPaused} aria-keyshortcuts="Space">
            <Icon name={isPaused ? 'send' : 'pauseb'} /> {isPaused ? 'Go on' : 'Pause'}{' '}
            <kbd className="m-hide">Space</kbd>
          </Button>
        }
      />
      <SourceTabs id={source.id} current="live" />
      <div className={styles.tools}>
        <TailFilters sourceId={source.id} search={search} change={change} />
        <TailStatus tail={tail} isPaused={isPaused} isHeld={held.isHeld} fresh={held.fresh} showFresh={showFresh} />
      </div>
      <section className="card mt" aria-label="Calls">
        {shown.length === 0 ? (
          <NothingYet sourceId={source.id} search={search} loosen={() => change(ALL)} />
        ) : (
          <TailTable
            rows={shown}
            chosen={search.show}
            scroller={scroller}
            choose={choose}
            rest={setIsResting}
            scrolled={setIsScrolled}
          />
        )}
      </section>
      {search.show !== undefined && (
        <CallDrawer
          source={source}
          show={search.show}
          row={held.shown.find((row) => row.kind !== 'left-out' && showId(row) === search.show)}
          version={tail.version}
          close={() => change({ show: undefined })}
        />
      )}
    </>
  );
}

const ALL = { type: undefined, event: undefined, userId: undefined, only: undefined };

function only(rows: TailRow[], kind: string | undefined): TailRow[] {
  return kind === undefined ? rows : rows.filter((row) => row.kind === kind);
}

type NothingYetProps = { sourceId: string; search: LiveSearch; loosen(): void };

function NothingYet({ sourceId, search, loosen }: NothingYetProps) {
  if (isFiltered(search)) {
    return (
      <NoMatch loosen={loosen}>
        No {inWords(search)} came since you opened this tail. It shows what arrives from now on; older events are under
        Events.
      </NoMatch>
    );
  }
  return (
    <Empty
      title="No call since you opened this page"
      action={
        <>
          <LinkButton to="/sources/new" search={{ sourceId }}>
            Show code that sends a call
          </LinkButton>
          <LinkButton look="quiet" to="/events" search={{ sourceId }}>
            Stored events
          </LinkButton>
        </>
      }
    >
      Each call appears here as it arrives, with its outcome at every destination, and so does each call that Millrace
      refuses. Nothing is stored for this page, so it starts empty.
    </Empty>
  );
}
