/** The one to five URLs of a destination, each with its headers and its check. */
import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { Button, IconButton } from '../../button.tsx';
import { Icon } from '../../icon.tsx';
import look from '../destination.module.css';
import { HeaderEditor } from './header-editor.tsx';
import { type DraftTarget, emptyTarget, headerProblem, MOST_TARGETS } from './targets.ts';
import { UrlReport } from './url-report.tsx';
import type { UrlState } from './use-url-checks.ts';

type TargetEditorProps = {
  targets: readonly DraftTarget[];
  checks: readonly UrlState[];
  change(targets: DraftTarget[]): void;
};

export function TargetEditor({ targets, checks, change }: TargetEditorProps) {
  const put = (target: DraftTarget) => change(targets.map((other) => (other.key === target.key ? target : other)));
  const isFull = targets.length >= MOST_TARGETS;
  return (
    <div className={look.targets}>
      {targets.map((target, place) => (
        <TargetRow
          key={target.key}
          name={targets.length === 1 ? 'URL' : `URL of target ${place + 1}`}
          target={target}
          check={checks[place] ?? { kind: 'typing' }}
          change={put}
          remove={targets.length === 1 ? undefined : () => change(targets.filter(({ key }) => key !== target.key))}
        />
      ))}
      <div className="btns">
        <Button small disabled={isFull} onClick={() => change([...targets, emptyTarget()])}>
          <Icon name="plus" />
          Add a target
        </Button>
        <span className="small dim">
          {targets.length} of {MOST_TARGETS}
        </span>
      </div>
    </div>
  );
}

type TargetRowProps = {
  name: string;
  target: DraftTarget;
  check: UrlState;
  change(target: DraftTarget): void;
  remove: (() => void) | undefined;
};

function TargetRow({ name, target, check, change, remove }: TargetRowProps) {
  const [isOpen, setIsOpen] = useState(false);
  const hasProblem = target.headers.some((header) => headerProblem(target, header) !== undefined);
  const isBad = check.kind === 'checked' && !check.check.ok;
  return (
    <div className={look.target}>
      <TextInput
        className={look.mono ?? ''}
        aria-label={name}
        type="url"
        inputMode="url"
        placeholder="https://hooks.example.com/millrace"
        autoComplete="off"
        spellCheck={false}
        maxLength={2_000}
        value={target.url}
        error={isBad}
        onChange={(event) => change({ ...target, url: event.currentTarget.value })}
      />
      <Button aria-expanded={isOpen || hasProblem} onClick={() => setIsOpen(!isOpen)}>
        Headers: {target.headers.length}
      </Button>
      {remove === undefined ? (
        <span />
      ) : (
        <IconButton label={`Remove ${name.replace('URL of ', '')}`} onClick={remove}>
          <Icon name="x" />
        </IconButton>
      )}
      <UrlReport url={target.url} state={check} />
      {(isOpen || hasProblem) && <HeaderEditor target={target} change={change} />}
    </div>
  );
}
