/** The builder of an audience or a computed trait: what is typed at the left, what it would mean at the right. */
import type { Definition as SavedDefinition, Destination, Source } from '@millrace/contract/control';
import { definitionKey } from '@millrace/contract/audiences';
import { SegmentedControl, TextInput } from '@mantine/core';
import { useRef } from 'react';
import { definitionWords, exactnessWords } from '../../parts/audience/condition-words.ts';
import { estimateWords } from '../../parts/audience/definition-standing.ts';
import { leafCount } from '../../parts/audience/draft/draft.ts';
import { SentenceText } from '../../parts/audience/sentence-text.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { BuilderLead } from './builder-lead.tsx';
import css from './builder.module.css';
import { GroupEditor } from './group-editor.tsx';
import { PlacesCard } from './places-card.tsx';
import { SizeCard } from './size-card.tsx';
import { TraitEditor } from './trait-editor.tsx';
import { useBuilder } from './use-builder.ts';
import { useSeen } from './use-seen.ts';
import { type LiveSize, useSize } from './use-size.ts';

export type BuilderInput = {
  /** Absent for a new one. */
  saved?: SavedDefinition;
  sources: readonly Source[];
  destinations: readonly Destination[];
  definitions: readonly SavedDefinition[];
};

export function Builder(input: BuilderInput) {
  const { saved, sources, destinations, definitions } = input;
  const isLeaving = useRef(false);
  const builder = useBuilder(input, isLeaving);
  const { draft, put } = builder;
  const size = useSize(draft);
  const seen = useSeen(draft.sources.length > 0 ? draft.sources : sources.map(({ id }) => id));
  const audiences = definitions.filter(
    ({ id, kind, state }) => kind === 'audience' && state !== 'deleting' && id !== saved?.id,
  );
  const names = new Map(definitions.map(({ id, name }) => [id, name]));
  const exactness = exactnessWords(builder.read.definition);
  return (
    <>
      <BuilderLead builder={builder} saved={saved} destinations={destinations} size={size} />
      <div className="cols mt2">
        <div className="stack">
          <NameCard builder={builder} saved={saved} />
          <Card title={draft.kind === 'audience' ? 'Who is in' : 'What is computed'}>
            <div className="pad">
              {draft.kind === 'audience' ? (
                <GroupEditor
                  group={draft.root}
                  depth={1}
                  leaves={leafCount(draft.root)}
                  around={{ seen, audiences, problems: builder.problems, isTried: builder.isTried }}
                  change={(root) => put({ root })}
                />
              ) : (
                <TraitEditor
                  draft={draft}
                  seen={seen}
                  problems={builder.fieldProblems}
                  isTried={builder.isTried}
                  put={put}
                />
              )}
            </div>
          </Card>
          <Card title="In words">
            <div className="pad">
              <p>
                <SentenceText pieces={definitionWords(builder.read.definition, names)} />
              </p>
              {exactness !== undefined && <p className="small dim mt">{exactness}</p>}
            </div>
          </Card>
          <PlacesCard
            draft={draft}
            sources={sources}
            destinations={destinations}
            problems={builder.fieldProblems}
            put={put}
          />
          {builder.error !== null && <ProblemNote error={builder.error} what="It was not saved." />}
        </div>
        <div className={`stack ${css.side}`}>
          <SizeCard size={size} kind={draft.kind} />
        </div>
      </div>
      <PhoneBar builder={builder} saved={saved} size={size} />
      <LeaveGuard isOn={builder.isChanged} isGone={isLeaving} />
    </>
  );
}

type PhoneBarProps = NameCardProps & { size: LiveSize };

/** On a phone the size and the button stay in sight while the conditions scroll. */
function PhoneBar({ builder: { isChanged, isBusy, save }, saved, size: { preview, isOld } }: PhoneBarProps) {
  return (
    <div className={`sticky-actions ${css.bar}`}>
      <span className={isOld ? css.old : undefined}>
        {preview === undefined ? <span className="dim">no size yet</span> : <b>{estimateWords(preview).size} users</b>}
      </span>
      <Button look="ink" isBusy={isBusy} disabled={saved !== undefined && !isChanged} onClick={save}>
        {saved === undefined ? 'Create' : 'Save'}
      </Button>
    </div>
  );
}

type NameCardProps = { builder: ReturnType<typeof useBuilder>; saved: SavedDefinition | undefined };

const KINDS = [
  { value: 'audience', label: 'Audience' },
  { value: 'trait', label: 'Computed trait' },
];

function NameCard({ builder: { draft, put, fieldProblems, isTried }, saved }: NameCardProps) {
  const key = saved?.key ?? definitionKey(draft.name);
  const problem = isTried || draft.name !== '' ? fieldProblems.get('name') : undefined;
  return (
    <Card title="Name and key">
      <div className="pad stack">
        <div className={css.form}>
          <TextInput
            label="Name"
            placeholder={draft.kind === 'audience' ? 'Big spenders, 30 days' : 'Orders, 90 days'}
            maxLength={200}
            value={draft.name}
            error={problem}
            data-autofocus
            onChange={(event) => put({ name: event.currentTarget.value })}
          />
          {saved === undefined && (
            <div>
              <p className={css.label}>Kind</p>
              <SegmentedControl
                aria-label="Kind"
                data={KINDS}
                value={draft.kind}
                onChange={(kind) => put({ kind: kind as 'audience' | 'trait' })}
              />
            </div>
          )}
        </div>
        <p className="small soft">
          {key === '' ? (
            'The key that destinations get is made of the name.'
          ) : (
            <>
              Destinations get it as{' '}
              <code>
                <OuterText text={key} most={120} />
              </code>
              {draft.kind === 'audience' ? ', true or false' : ', with the value'}.{' '}
              {saved === undefined ? 'Once saved, the key is fixed.' : 'The key stays, whatever the name becomes.'}
            </>
          )}
        </p>
        {saved !== undefined && saved.edit !== null && (
          <Note state="waiting" title={`Version ${saved.edit.version} is being computed.`}>
            Until it is live, only the name and the destinations can be changed.
          </Note>
        )}
      </div>
    </Card>
  );
}
