import type { DestinationChange } from '../../parts/destination/draft.ts';
import { Button } from '../../parts/button.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import look from './destination-settings.module.css';
import { changedWords } from './settings-words.ts';
import type { useSettings } from './use-settings.ts';

type SaveBarProps = { settings: ReturnType<typeof useSettings>; change: DestinationChange };

/** Stays at the lower edge while something is not saved. */
export function SaveBar({ settings, change }: SaveBarProps) {
  const { problem, patch, save, discard, fields } = settings;
  return (
    <section className={look.bar} aria-label="Changes that are not saved">
      {patch.error !== null && (
        <ProblemNote error={patch.error} what="Nothing was saved. What you typed is still here." />
      )}
      <div className="btns end">
        <span className="soft">{problem ?? `Not saved yet: ${changedWords(change, fields)}.`}</span>
        <Button onClick={discard}>Discard</Button>
        <Button look="ink" disabled={problem !== undefined} isBusy={patch.isPending} onClick={save}>
          Save the changes
        </Button>
      </div>
    </section>
  );
}
