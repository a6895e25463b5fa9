/** The newest events of a preview with what would become of each, and the exact body of the chosen one. */
import { SegmentedControl } from '@mantine/core';
import type { FilterRule } from '@millrace/contract';
import type { DestinationPreview } from '@millrace/contract/control';
import { type ReactNode, useState } from 'react';
import { Code } from '../../code.tsx';
import { NoMatch } from '../../list-states.tsx';
import { StateText } from '../../state-mark.tsx';
import { OuterText, TimeText } from '../../texts.tsx';
import look from '../destination.module.css';
import { eventName, type PreviewRow, rowsOf } from './preview-words.ts';

const SHOWS = [
  { value: 'all', label: 'All' },
  { value: 'sent', label: 'Sent' },
  { value: 'not', label: 'Not sent' },
] as const;
const MOST_ROWS = 9;

type PreviewRowsProps = { preview: DestinationPreview; rules: readonly FilterRule[]; note: ReactNode; isOld: boolean };

export function PreviewRows({ preview, rules, note, isOld }: PreviewRowsProps) {
  const [show, setShow] = useState<(typeof SHOWS)[number]['value']>('all');
  const [chosen, setChosen] = useState<string | undefined>();
  const rows = rowsOf(preview, show, rules).slice(0, MOST_ROWS);
  const row = rows.find(({ messageId }) => messageId === chosen) ?? rows[0];
  return (
    <>
      <div aria-busy={isOld}>
        {note}
        <div className="pad">
          <SegmentedControl aria-label="Which events" size="xs" data={[...SHOWS]} value={show} onChange={setShow} />
        </div>
        {rows.length === 0 ? (
          <NoMatch loosen={() => setShow('all')}>
            None of the events would be {show === 'sent' ? 'sent' : 'held back'} with these rules.
          </NoMatch>
        ) : (
          <PreviewTable rows={rows} chosen={row?.messageId} choose={setChosen} />
        )}
      </div>
      <div className={`pad ${look.body}`}>
        {row !== undefined && (
          <>
            <p className={`small dim ${look.mb}`}>
              {row.skipped === undefined
                ? 'The body that would be sent, spread over lines'
                : 'The body that it would have, spread over lines'}
            </p>
            <Code text={pretty(row.body)} label="body" foldsAfter={40} />
          </>
        )}
      </div>
    </>
  );
}

type PreviewTableProps = { rows: readonly PreviewRow[]; chosen: string | undefined; choose(messageId: string): void };

function PreviewTable({ rows, chosen, choose }: PreviewTableProps) {
  return (
    <table className={look.rows}>
      <thead>
        <tr>
          <th>Event</th>
          <th>Would be</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.messageId} className={row.messageId === chosen ? 'sel' : undefined}>
            <td>
              <button type="button" className={look.pick} onClick={() => choose(row.messageId)}>
                <OuterText text={eventName(row)} most={40} />
                <span className="sub">
                  <TimeText at={row.receivedAt} />
                  {row.userId !== null && (
                    <>
                      {' · '}
                      <OuterText text={row.userId} most={24} />
                    </>
                  )}
                </span>
              </button>
            </td>
            <td>
              {row.skipped === undefined ? (
                <StateText state="delivered">sent</StateText>
              ) : (
                <>
                  <StateText state="skipped">skipped</StateText>
                  <span className="sub">
                    <OuterText text={row.skipped.words} most={120} />
                  </span>
                </>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Spread over lines for the eye; the request has it in one line. */
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
