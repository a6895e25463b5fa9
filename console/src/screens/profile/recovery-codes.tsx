import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Note } from '../../parts/note.tsx';
import styles from './profile.module.css';

/** Shown once: Millrace keeps only their hashes. */
export function RecoveryCodeList({ codes, done }: { codes: readonly string[]; done(): void }) {
  const text = codes.join('\n');
  return (
    <div className="stack">
      <p>
        Each of these codes signs you in once in place of your app or your passkey. Keep them apart from your phone.
      </p>
      <ul className={`mono ${styles['codes']}`} aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <Note state="retrying" title="Keep them now.">
        Millrace keeps only their hashes and cannot show them again.
      </Note>
      <div className="btns end">
        <CopyButton text={text}>Copy</CopyButton>
        <Button onClick={() => saveText('millrace-recovery-codes.txt', `${location.host}\n\n${text}\n`)}>
          Download
        </Button>
        <Button look="ink" onClick={done}>
          Done
        </Button>
      </div>
    </div>
  );
}

/** A Blob URL is of our own origin, as the CSP asks. */
function saveText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
