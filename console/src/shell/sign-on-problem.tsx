import { ApiError } from '../api/ask-control.ts';
import { Note } from '../parts/note.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';

const OF_SIGN_ON = new Set(['sso_unknown', 'sso_ended', 'sso_failed', 'sso_refused']);

/** Says why single sign-on did not work, in the words of the server. */
export function SignOnProblem({ error }: { error: unknown }) {
  if (error === null) return null;
  if (!(error instanceof ApiError) || !OF_SIGN_ON.has(error.problem.code)) return <ProblemNote error={error} />;
  const { title, detail, errors } = error.problem;
  return (
    <Note state="givenup" title={`${title}.`}>
      {errors?.map(({ message }) => message).join(' ') ?? detail}
    </Note>
  );
}
