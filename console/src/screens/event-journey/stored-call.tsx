import { SegmentedControl } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { visible } from '../../format/texts.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Code } from '../../parts/code.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { jsonLines } from './marked-json.ts';
import type { StoredEvent } from './rules.ts';
import type { StoredCall } from './use-stored-call.ts';

const FOLDED_LINES = 40;

type StoredCallCardProps = {
  read: UseQueryResult<StoredCall | undefined>;
  marked: ReadonlySet<string>;
  isErased: boolean;
};

/** The call as Millrace stored it. Values that a filter looked at are marked. */
export function StoredCallCard({ read, marked, isErased }: StoredCallCardProps) {
  const [form, setForm] = useState('pretty');
  const event = read.data?.item?.event;
  const right = event !== undefined && (
    <>
      <SegmentedControl
        aria-label="Form of the call"
        size="xs"
        value={form}
        onChange={setForm}
        data={[
          { value: 'pretty', label: 'Pretty' },
          { value: 'raw', label: 'Raw' },
        ]}
      />
      <CopyButton text={JSON.stringify(event, null, form === 'raw' ? 0 : 2)}>Copy</CopyButton>
    </>
  );
  return (
    <Card title="The call as stored" right={right}>
      <div className="pad">
        {event === undefined && read.isLoading && <LoadingRows rows={4} />}
        {read.error !== null && <ProblemNote error={read.error} what="The stored call cannot be shown." />}
        {event !== undefined &&
          (form === 'raw' ? (
            <Code text={JSON.stringify(event)} label="The call as stored" copies={false} />
          ) : (
            <Marked event={event} marked={marked} />
          ))}
        {event === undefined && read.data !== undefined && (
          <Gone isComplete={read.data.isComplete} isErased={isErased} />
        )}
      </div>
    </Card>
  );
}

function Gone({ isComplete, isErased }: { isComplete: boolean; isErased: boolean }) {
  if (isErased)
    return (
      <p className="soft">
        <b>Its user was erased.</b> Millrace does not show the call and never sends it again. It expires with the other
        stored events.
      </p>
    );
  return (
    <p className="soft">
      {isComplete ? (
        <>
          <b>The call is no longer stored.</b> Millrace keeps stored events for a limited time (72 hours unless the
          operator sets another), and does not show those of erased or suppressed users. It cannot be replayed either.
        </>
      ) : (
        <>
          <b>The console did not find the call.</b> It looked at the newest stored events only; the call may be further
          back.
        </>
      )}
    </p>
  );
}

function Marked({ event, marked }: { event: StoredEvent; marked: ReadonlySet<string> }) {
  const [isWhole, setIsWhole] = useState(false);
  const lines = jsonLines(event, marked);
  const shown = isWhole ? lines : lines.slice(0, FOLDED_LINES);
  const isMarked = lines.some((line) => line.some(({ kind }) => kind === 'mark'));
  return (
    <div className="code">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0} role="region" aria-label="The call as stored">
        <bdi>
          {shown.map((line, row) => (
            // oxlint-disable-next-line react/no-array-index-key -- a line is its place
            <span key={row}>
              {line.map(({ kind, text }, place) =>
                kind === 'mark' ? (
                  // oxlint-disable-next-line react/no-array-index-key -- a piece is its place
                  <mark key={place}>{cut(text)}</mark>
                ) : (
                  // oxlint-disable-next-line react/no-array-index-key -- a piece is its place
                  <span className={kind === 'key' ? 'k' : undefined} key={place}>
                    {isWhole ? visible(text) : cut(text)}
                  </span>
                ),
              )}
              {'\n'}
            </span>
          ))}
        </bdi>
      </pre>
      {(lines.length > FOLDED_LINES || isWhole) && (
        <Button small look="quiet" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${lines.length} lines`}
        </Button>
      )}
      {isMarked && <p className="small dim mt">Marked: the values that a filter looks at.</p>}
    </div>
  );
}

const MOST_IN_A_PIECE = 1_000;

function cut(text: string): string {
  const shown = visible(text);
  return shown.length > MOST_IN_A_PIECE ? `${shown.slice(0, MOST_IN_A_PIECE)}…` : shown;
}
