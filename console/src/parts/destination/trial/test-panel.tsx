/** Sends one call to one target and shows the exact request and answer. It is no delivery and is never retried. */
import { NativeSelect } from '@mantine/core';
import type { TestDestination, TestedDestination } from '@millrace/contract/control';
import { type ReactNode, useState } from 'react';
import { useChange } from '../../../api/queries.ts';
import { Button, type Look } from '../../button.tsx';
import { Card } from '../../card.tsx';
import { Icon } from '../../icon.tsx';
import { ProblemNote } from '../../problem-note.tsx';
import { CallEditor } from './call-editor.tsx';
import { TargetPicker } from './target-picker.tsx';
import { TestResult } from './test-result.tsx';
import { readCall, sampleText, TEST_TYPES, type TestType } from './test-words.ts';

type TestPanelProps = {
  id: string;
  urls: readonly string[];
  title?: ReactNode;
  /** With the call to edit, and stored events of this source to load. */
  sourceId?: string;
  held?: string | undefined;
  look?: Look;
};

export function TestPanel({ id, urls, title = 'Test', sourceId, held, look = 'plain' }: TestPanelProps) {
  const [type, setType] = useState<TestType>('track');
  const [target, setTarget] = useState(0);
  /** The typed call; undefined while the server's own sample is sent. */
  const [text, setText] = useState<string | undefined>();
  const send = useChange<TestDestination, TestedDestination>({
    method: 'POST',
    path: `/destinations/${id}/test`,
    body: (wanted) => wanted,
  });
  const call = text === undefined ? undefined : readCall(text);
  const choose = (next: TestType) => {
    setType(next);
    setText(text === undefined || next === 'delete' ? undefined : sampleText(next));
  };
  const submit = () => {
    if (call?.ok === false) return;
    send.mutate({ targetIndex: target, ...(call === undefined ? { type } : { event: call.call }) });
  };
  return (
    <Card
      title={title}
      aside="one request, marked as a test, never retried"
      right={
        <>
          <TargetPicker urls={urls} value={target} choose={setTarget} />
          <NativeSelect
            aria-label="Type of the call"
            value={type}
            data={[...TEST_TYPES]}
            onChange={(event) => choose(event.currentTarget.value as TestType)}
          />
          <Button
            look={look}
            small={look !== 'ink'}
            isBusy={send.isPending}
            disabled={held !== undefined || call?.ok === false}
            onClick={submit}
          >
            <Icon name="send" />
            Send a test
          </Button>
        </>
      }
    >
      <div className="pad stack">
        {held !== undefined && <p className="dim">{held}</p>}
        {sourceId !== undefined && (
          <CallEditor
            sourceId={sourceId}
            type={type}
            text={text}
            problem={problemOf(call)}
            change={setText}
            chooseType={setType}
          />
        )}
        {send.error !== null && <ProblemNote error={send.error} what="The test was not sent." />}
        {send.data === undefined ? (
          <p className="soft">
            The receiver gets what a delivery would bring: the same headers, body and signature, with X-Millrace-Test:
            true.
          </p>
        ) : (
          <TestResult tested={send.data} />
        )}
      </div>
    </Card>
  );
}

function problemOf(call: ReturnType<typeof readCall> | undefined): string | undefined {
  return call?.ok === false ? call.problem : undefined;
}
