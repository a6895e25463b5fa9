/** What cannot be shown, what goes on all the same, and what to do. It stands in its place; the rest of the page stays. */
import { ApiError } from '../api/ask-control.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Note } from './note.tsx';

type ProblemNoteProps = { error: unknown; what?: string; retry?: () => void };

export function ProblemNote({ error, what, retry }: ProblemNoteProps) {
  const problem = error instanceof ApiError ? error.problem : undefined;
  return (
    <Note state="givenup" title={what ?? problem?.title ?? 'The console made a mistake.'}>
      {what !== undefined && problem !== undefined && <>{problem.title}. </>}
      {/* With errors, the detail only points to them. */}
      {problem?.errors === undefined && (problem?.detail ?? String(error))}
      {problem?.errors !== undefined && (
        <ul>
          {problem.errors.map(({ path, message }) => (
            <li key={path + message}>
              {path !== '/' && <code>{path}</code>} {message}
            </li>
          ))}
        </ul>
      )}
      <span className="small dim block">
        {problem !== undefined && <code>{problem.code}</code>}
        {problem !== undefined && problem.requestId !== '' && (
          <>
            {' '}
            request <code>{problem.requestId.slice(0, 8)}</code>{' '}
            <CopyButton text={problem.requestId} label="Copy the request id" />
          </>
        )}
      </span>
      {retry !== undefined && (
        <Button small onClick={retry}>
          Try again
        </Button>
      )}
    </Note>
  );
}
