import { memo } from 'react';
import { bytes, count } from '../../format/numbers.ts';
import { cutText, visible } from '../../format/texts.ts';
import { clock, clockMs } from '../../format/times.ts';
import { standingOf } from '../../format/standings.ts';
import { StateMark, StateText } from '../../parts/state-mark.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { summaryOf } from './outcome-words.ts';
import styles from './source-live.module.css';
import { type CallRow, type LeftOutRow, type OutcomeHeard, showId } from '../../parts/tail/tail-rows.ts';

type CallCellsProps = {
  row: CallRow;
  /** Of the row; a row changes in place, its outcomes do not. */
  outcomes: readonly OutcomeHeard[];
  height: number;
  place: number;
  isChosen: boolean;
  choose(show: string): void;
};

const HEAD_ROWS = 2;

export const CallCells = memo(function CallCells({ row, outcomes, height, place, isChosen, choose }: CallCellsProps) {
  const isRefused = row.kind === 'refused';
  return (
    <tr
      className={`${styles.row} ${isRefused ? `refused ${styles.refused}` : ''} ${isChosen ? 'sel' : ''}`}
      style={{ height }}
      aria-rowindex={place + HEAD_ROWS}
    >
      <td className={`mono dim ${styles.at}`}>{clockMs(row.at)}</td>
      <td className={styles.type}>
        {isRefused ? (
          <StateText state="refused">Refused</StateText>
        ) : (
          <span className="tag">{cutText(visible(row.type ?? 'call'), 10)}</span>
        )}
      </td>
      <td className={styles.name}>
        <button type="button" className={styles.open} data-row="" onClick={() => choose(showId(row))}>
          <NameOf row={row} />
        </button>
      </td>
      <td className={`mono ${styles.user}`}>
        <UserOf row={row} />
      </td>
      <td className={`num dim ${styles.size}`}>{sizeText(row)}</td>
      <td className={styles.outs}>
        {isRefused ? <span className="dim">not stored</span> : <Outcomes row={row} outcomes={outcomes} />}
      </td>
    </tr>
  );
});

function NameOf({ row: { kind, name, type, code = '', message = '' } }: { row: CallRow }) {
  if (kind === 'refused') {
    return (
      <span className={styles.why}>
        <code>{code}</code> <OuterText text={message} most={180} />
      </span>
    );
  }
  if (name !== undefined && name !== '') return <OuterText text={name} most={120} />;
  return (
    <>
      <span className="dim m-hide">–</span>
      <span className="dim m-only">{visible(type ?? 'call')}</span>
    </>
  );
}

function UserOf({ row: { userId, anonymousId } }: { row: CallRow }) {
  if (userId !== undefined) return <OuterText text={userId} most={24} />;
  if (anonymousId === undefined) return <span className="dim">–</span>;
  return (
    <span className="dim" title={visible(anonymousId).slice(0, 500)}>
      anon <bdi>…{visible(anonymousId).slice(-6)}</bdi>
    </span>
  );
}

const MOST_MARKS = 4;

function Outcomes({ row, outcomes }: { row: CallRow; outcomes: readonly OutcomeHeard[] }) {
  if (row.messageId === undefined)
    return (
      <span
        className="dim"
        title="The call came without a messageId, so the tail cannot tell which outcomes are its own."
      >
        –
      </span>
    );
  const summary = summaryOf(outcomes.map(({ outcome }) => outcome));
  return (
    <span className={styles.marks} title={summary}>
      {outcomes.slice(0, MOST_MARKS).map(({ destinationId, outcome }) => (
        <StateMark key={destinationId} state={standingOf(outcome).state} />
      ))}
      {outcomes.length > MOST_MARKS && <span className="dim">+{outcomes.length - MOST_MARKS}</span>}
      <span className="sr">{summary}</span>
    </span>
  );
}

const encoder = new TextEncoder();

/** The tail carries calls of up to 8 KiB, and none that was refused. */
function sizeText({ kind, call }: CallRow): string {
  if (call === undefined) return kind === 'accepted' ? '> 8\u202fKiB' : '';
  return bytes(encoder.encode(JSON.stringify(call)).length);
}

type LeftOutCellsProps = { row: LeftOutRow; height: number; place: number };

export const LeftOutCells = memo(function LeftOutCells({ row, height, place }: LeftOutCellsProps) {
  return (
    <tr className={styles.leftout} style={{ height }} aria-rowindex={place + HEAD_ROWS}>
      <td className="mono dim">{clock(row.at)}</td>
      <td colSpan={5}>
        Sampled: {count(row.leftOut)} calls and outcomes left out at this rate. Millrace stored every accepted call.
      </td>
    </tr>
  );
});
