/** The call of a test as JSON to edit: a sample of its type, or a stored event. */
import { Textarea } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../../../api/session.tsx';
import { Button } from '../../button.tsx';
import look from '../destination.module.css';
import { StoredEvents } from './stored-events.tsx';
import { sampleText, TEST_TYPES, type TestType } from './test-words.ts';

type CallEditorProps = {
  sourceId: string;
  type: TestType;
  text: string | undefined;
  problem: string | undefined;
  change(text: string | undefined): void;
  /** A stored event brings its type along. */
  chooseType(type: TestType): void;
};

export function CallEditor({ sourceId, type, text, problem, change, chooseType }: CallEditorProps) {
  const [isOpen, setIsOpen] = useState(false);
  const mayRead = useMay('sources:read');
  return (
    <div className="stack">
      <div className="btns">
        <Button small disabled={type === 'delete'} onClick={() => change(sampleText(type))}>
          {text === undefined ? 'Edit the call' : 'Start over from a sample'}
        </Button>
        {mayRead && (
          <Button small onClick={() => setIsOpen(true)}>
            Load a stored event
          </Button>
        )}
        {text !== undefined && (
          <Button small look="quiet" onClick={() => change(undefined)}>
            Send the standard sample instead
          </Button>
        )}
        {type === 'delete' && (
          <span className="small dim">An erasure is made by Millrace: only its standard form can be sent.</span>
        )}
      </div>
      {text !== undefined && (
        <Textarea
          className={look.mono ?? ''}
          label="The call, as a client would send it"
          autosize={false}
          rows={12}
          spellCheck={false}
          value={text}
          error={problem}
          onChange={(event) => change(event.currentTarget.value)}
        />
      )}
      <StoredEvents
        sourceId={sourceId}
        isOpen={isOpen}
        close={() => setIsOpen(false)}
        choose={(event) => {
          const known = TEST_TYPES.find((name) => name === event.type);
          if (known !== undefined) chooseType(known);
          change(JSON.stringify(event, null, 2));
          setIsOpen(false);
        }}
      />
    </div>
  );
}
