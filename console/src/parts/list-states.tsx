/** The four states that every list has beside its rows: loading, cannot be shown, nothing there yet, nothing that matches. */
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { ProblemNote } from './problem-note.tsx';

const PATIENCE_MS = 200;

/** Rows of the right height, after a moment: a quick answer makes no flicker. */
export function LoadingRows({ rows = 6 }: { rows?: number }) {
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading" role="status" aria-label="Loading">
      {isShown && Array.from({ length: rows }, (_, row) => <div className="loading-row" key={row} />)}
    </div>
  );
}

/** What belongs here, why it is worth it, and the one thing to do. */
export function Empty({ title, children, action }: { title: string; children: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <h3>{title}</h3>
      <p>{children}</p>
      {action !== undefined && <div className="btns">{action}</div>}
    </div>
  );
}

/** What was searched, how far, and how to loosen it. */
export function NoMatch({ children, loosen }: { children: ReactNode; loosen?: () => void }) {
  return (
    <div className="empty">
      <h3>Nothing matches</h3>
      <p>{children}</p>
      {loosen !== undefined && (
        <div className="btns">
          <Button onClick={loosen}>Remove all filters</Button>
        </div>
      )}
    </div>
  );
}

type Read = { isPending: boolean; error: unknown; data: unknown; refetch(): unknown };

type ListStatesProps = {
  read: Read;
  /** What cannot be shown when the read fails: "The deliveries cannot be shown." */
  failed: string;
  isEmpty: boolean;
  isFiltered?: boolean;
  empty: ReactNode;
  noMatch?: ReactNode;
  children: ReactNode;
};

/** Old rows stay when a later read fails: the note stands above them. */
export function ListStates({ read, failed, isEmpty, isFiltered = false, empty, noMatch, children }: ListStatesProps) {
  if (read.isPending) return <LoadingRows />;
  const note = read.error !== null && (
    <div className="pad">
      <ProblemNote error={read.error} what={failed} retry={() => void read.refetch()} />
    </div>
  );
  if (read.data === undefined) return note;
  return (
    <>
      {note}
      {isEmpty ? (isFiltered ? (noMatch ?? empty) : empty) : children}
    </>
  );
}

/** Pages by cursor: never page numbers. */
export function Older({
  pages,
}: {
  pages: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): unknown };
}) {
  if (!pages.hasNextPage) return null;
  return (
    <div className="pad">
      <Button isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
        Older
      </Button>
    </div>
  );
}
