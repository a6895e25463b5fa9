/** Code and JSON to read and copy. What came from outside is shown as text, folded when it is long. */
import { useState } from 'react';
import { visible } from '../format/texts.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';

const FOLDED_LINES = 20;
const FOLDED_CHARS = 4_000;

type CodeProps = { text: string; label: string; copies?: boolean; foldsAfter?: number };

export function Code({ text, label, copies = true, foldsAfter = FOLDED_LINES }: CodeProps) {
  const [isWhole, setIsWhole] = useState(false);
  const all = visible(text);
  const lines = all.split('\n');
  const isLong = lines.length > foldsAfter || all.length > FOLDED_CHARS;
  const shown = isWhole || !isLong ? all : lines.slice(0, foldsAfter).join('\n').slice(0, FOLDED_CHARS);
  return (
    <div className="code">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0} role="region" aria-label={label}>
        <bdi>{shown}</bdi>
        {isLong && !isWhole && '…'}
      </pre>
      {copies && (
        <div className="code-copy">
          <CopyButton text={text} label={`Copy ${label}`} />
        </div>
      )}
      {isLong && (
        <Button small look="quiet" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${lines.length} lines`}
        </Button>
      )}
    </div>
  );
}

export function Json({ value, label, foldsAfter }: { value: unknown; label: string; foldsAfter?: number }) {
  const text = JSON.stringify(value, null, 2) ?? 'undefined';
  return <Code text={text} label={label} {...(foldsAfter === undefined ? {} : { foldsAfter })} />;
}
