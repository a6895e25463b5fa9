/** Conditions joined by all or any, with groups inside of groups. */
import { MAX_CONDITION_DEPTH, MAX_LEAVES } from '@millrace/contract/audiences';
import { Fragment } from 'react';
import {
  type DraftGroup,
  type DraftPart,
  emptyAudience,
  emptyEvent,
  emptyGroup,
  emptyTrait,
  withPart,
} from '../../parts/audience/draft/draft.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import css from './builder.module.css';
import { type Around, LeafEditor } from './leaf-editor.tsx';
import { Pick } from './picks.tsx';
import { ProblemLines, problemsOf } from './problems.tsx';

type GroupEditorProps = {
  group: DraftGroup;
  around: Around;
  /** 1 for the outermost. */
  depth: number;
  /** Of the whole definition. */
  leaves: number;
  change(group: DraftGroup): void;
  remove?: () => void;
};

const JOINS = {
  all: 'all of these hold',
  any: 'any of these holds',
  'not all': 'not all of these hold',
  'not any': 'none of these holds',
} as const;
type Join = keyof typeof JOINS;

export function GroupEditor({ group, around, depth, leaves, change, remove }: GroupEditorProps) {
  const put = (key: number, next: DraftPart | undefined) => change(withPart(group, key, next));
  const add = (part: DraftPart) => change({ ...group, parts: [...group.parts, part] });
  const join: Join = group.isNot ? `not ${group.join}` : group.join;
  const problems = problemsOf(
    { key: group.key, problems: around.problems.get(group.key), isTried: around.isTried },
    { '': 'whole' },
  );
  return (
    <div className={`${css.group} ${depth > 1 ? css.inner : ''}`} role="group" aria-label={JOINS[join]}>
      <div className={css.grouphead}>
        <Pick
          label="How the conditions are joined"
          value={join}
          choices={JOINS}
          change={(next) =>
            change({ ...group, isNot: next.startsWith('not'), join: next.endsWith('any') ? 'any' : 'all' })
          }
        />
        {remove !== undefined && (
          <IconButton label="Remove the group" onClick={remove}>
            <Icon name="x" />
          </IconButton>
        )}
      </div>
      {group.parts.map((part, place) => (
        <Fragment key={part.key}>
          {place > 0 && <span className={css.join}>{group.join === 'all' ? 'and' : 'or'}</span>}
          {part.shape === 'group' ? (
            <GroupEditor
              group={part}
              around={around}
              depth={depth + 1}
              leaves={leaves}
              change={(next) => put(part.key, next)}
              remove={() => put(part.key, undefined)}
            />
          ) : (
            <LeafEditor
              leaf={part}
              around={around}
              change={(next) => put(part.key, next)}
              remove={() => put(part.key, undefined)}
            />
          )}
        </Fragment>
      ))}
      <ProblemLines problems={problems} />
      <AddButtons depth={depth} leaves={leaves} add={add} />
    </div>
  );
}

type AddButtonsProps = { depth: number; leaves: number; add(part: DraftPart): void };

function AddButtons({ depth, leaves, add }: AddButtonsProps) {
  const isFull = leaves >= MAX_LEAVES;
  return (
    <div className="btns">
      <Button small disabled={isFull} onClick={() => add(emptyEvent())}>
        <Icon name="plus" />
        Event
      </Button>
      <Button small disabled={isFull} onClick={() => add(emptyTrait())}>
        <Icon name="plus" />
        Trait
      </Button>
      <Button small disabled={isFull} onClick={() => add(emptyAudience())}>
        <Icon name="plus" />
        Audience
      </Button>
      {depth < MAX_CONDITION_DEPTH - 1 && (
        <Button small disabled={isFull} onClick={() => add(emptyGroup('any', emptyEvent()))}>
          <Icon name="plus" />
          Group
        </Button>
      )}
      {depth === 1 && (
        <span className="small dim">
          {leaves} of {MAX_LEAVES} conditions
        </span>
      )}
    </div>
  );
}
