/** How a receiver verifies signatures, in the languages of people's receivers. */
import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { Code } from '../../code.tsx';
import { CopyButton } from '../../copy-button.tsx';
import { snippetsFor } from './snippets.ts';

export function VerifySnippets({ url }: { url: string }) {
  const [chosen, setChosen] = useState('node');
  const snippets = snippetsFor(url);
  const snippet = snippets.find(({ value }) => value === chosen) ?? snippets[0];
  if (snippet === undefined) return null;
  return (
    <div className="stack">
      <div className="btns">
        <SegmentedControl
          aria-label="Language"
          size="xs"
          data={snippets.map(({ value, label }) => ({ value, label }))}
          value={chosen}
          onChange={setChosen}
        />
        {snippet.whole === undefined ? (
          <span className="small dim">Signs a request as Millrace does, to try your receiver from a terminal.</span>
        ) : (
          <>
            <span className="small dim">How your receiver verifies a request, over the bytes of its body.</span>
            <CopyButton text={snippet.whole}>Copy the whole receiver</CopyButton>
          </>
        )}
      </div>
      <Code text={snippet.check} label={`the ${snippet.label} example`} foldsAfter={30} />
    </div>
  );
}
