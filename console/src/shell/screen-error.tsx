import { Button } from '../parts/button.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';

/** A screen that failed, mostly because the server brought a newer console; the rest of the console stays. */
export function ScreenError({ error }: { error: unknown }) {
  return (
    <main className="page">
      <ProblemNote error={error} what="This screen cannot be shown." />
      <div className="btns mt">
        <Button look="ink" onClick={() => location.reload()}>
          Reload
        </Button>
      </div>
    </main>
  );
}
