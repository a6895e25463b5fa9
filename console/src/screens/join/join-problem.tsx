import { Link } from '@tanstack/react-router';
import { ApiError } from '../../api/ask-control.ts';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';

/** The four ways in which an invitation is refused, in words; all others as the API says them. */
export function JoinProblem({ error, keep }: { error: unknown; keep(): void }) {
  const code = error instanceof ApiError ? error.problem.code : '';
  if (code === 'wrong_password') {
    return (
      <Note state="givenup" title="Your address has an account here already.">
        Type the password of that account, or{' '}
        <Link to="/sign-in" search={{ back: '/join' }} onClick={keep}>
          sign in first
        </Link>
        . A link changes no password.
      </Note>
    );
  }
  if (code === 'second_factor_needed') {
    return (
      <Note state="givenup" title="Your account has a second factor.">
        <Link to="/sign-in" search={{ back: '/join' }} onClick={keep}>
          Sign in first
        </Link>
        , then join with your account.
      </Note>
    );
  }
  if (code === 'not_found') {
    return (
      <Note state="givenup" title="This invitation has ended.">
        It was used, withdrawn, replaced by a newer one, or is older than 72 hours. Ask the person who invited you for a
        new link.
      </Note>
    );
  }
  if (code === 'conflict') {
    return (
      <Note state="givenup" title="You are a member of this workspace already.">
        <Link to="/">Go to the console</Link>.
      </Note>
    );
  }
  return <ProblemNote error={error} />;
}
