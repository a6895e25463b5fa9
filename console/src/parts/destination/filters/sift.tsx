/** Rules at the left, what they would let through of the stored events at the right. Nothing is sent or saved. */
import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { Empty, LoadingRows } from '../../list-states.tsx';
import { ProblemNote } from '../../problem-note.tsx';
import { counted } from '../../../format/numbers.ts';
import look from '../destination.module.css';
import { FilterEditor } from './filter-editor.tsx';
import { PreviewRows } from './preview-rows.tsx';
import { PreviewTotal } from './preview-total.tsx';
import { type DraftRule, unfinished, wholeRules } from './rules.ts';
import { stopsOf, useFields, usePreview } from './use-preview.ts';

const LASTS = [100, 200, 500, 1_000];

type SiftProps = {
  sourceId: string;
  rules: readonly DraftRule[];
  bodyFormat: string;
  change(rules: DraftRule[]): void;
};

export function Sift({ sourceId, rules, bodyFormat, change }: SiftProps) {
  const [last, setLast] = useState(200);
  const preview = usePreview({ sourceId, rules, bodyFormat, last });
  const fields = useFields(sourceId);
  const waits = unfinished(rules);
  return (
    <div className={look.sift}>
      <div className="pad stack">
        <FilterEditor rules={rules} change={change} fields={fields} stops={stopsOf(rules, preview.data)} />
        {preview.data !== undefined && <PreviewTotal preview={preview.data} />}
        {waits > 0 && <p className="small dim">{counted(waits, 'rule')} not whole yet: the preview leaves it out.</p>}
        <NativeSelect
          label="Tried on"
          value={String(last)}
          data={LASTS.map((value) => ({
            value: String(value),
            label: `the last ${value.toLocaleString('en-US')} events`,
          }))}
          onChange={(event) => setLast(Number(event.currentTarget.value))}
        />
      </div>
      <PreviewRead read={preview} hasSource={sourceId !== ''} rules={wholeRules(rules)} />
    </div>
  );
}

type PreviewReadProps = {
  read: ReturnType<typeof usePreview>;
  hasSource: boolean;
  rules: ReturnType<typeof wholeRules>;
};

function PreviewRead({ read, hasSource, rules }: PreviewReadProps) {
  if (!hasSource)
    return <Empty title="No source yet">Choose a source: its stored events show what would be sent.</Empty>;
  if (read.isPending) return <LoadingRows />;
  const note = read.error !== null && (
    <div className="pad">
      <ProblemNote error={read.error} what="The preview cannot be shown." retry={() => void read.refetch()} />
    </div>
  );
  if (read.data === undefined) return note;
  if (read.data.looked.events === 0) {
    return (
      <Empty title="The source has no stored events">
        The preview sorts the events of the last days. It shows them here as soon as the source sends the first ones;
        the rules can be saved without it.
      </Empty>
    );
  }
  return <PreviewRows preview={read.data} rules={rules} note={note} isOld={read.isPlaceholderData} />;
}
