import { Note } from '../../parts/note.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import styles from './team.module.css';

type ShownOnceProps = { label: string; text: string; kept?: string };

/** A secret that no later answer holds: in a field, to be copied now. */
export function ShownOnce({
  label,
  text,
  kept = 'Millrace keeps only its hash and cannot show it again.',
}: ShownOnceProps) {
  return (
    <div className="stack">
      <div className={styles['secret']}>
        <label className="field">
          <span>{label}</span>
          <input className="input mono" readOnly value={text} onFocus={(event) => event.currentTarget.select()} />
        </label>
        <CopyButton text={text}>Copy</CopyButton>
      </div>
      <Note state="retrying" title="Copy it now.">
        {kept}
      </Note>
    </div>
  );
}
