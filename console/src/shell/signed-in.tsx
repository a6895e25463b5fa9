/** Shows the console to somebody who is signed in, and the way to sign in to everybody else. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Navigate, useRouterState } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, setWorkspace } from '../api/ask-control.ts';
import { readingMe } from '../api/me.ts';
import { chosenWorkspace, rememberWorkspace, SessionProvider } from '../api/session.tsx';
import { useSignOut } from '../api/sign-out.ts';
import { Button } from '../parts/button.tsx';
import { LoadingRows } from '../parts/list-states.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { tellError } from '../parts/tell-error.ts';
import { OuterText } from '../parts/texts.tsx';
import { Door } from './door.tsx';
import { NeedsSignOn } from './needs-sign-on.tsx';
import { Shell } from './shell.tsx';

export function SignedIn() {
  const client = useQueryClient();
  const location = useRouterState({ select: (state) => state.location.href });
  const me = useQuery(readingMe);
  const [, setChanges] = useState(0);
  if (isSignedOut(me.error)) {
    // Until the sign-in is loaded this stays on the page, with its address already: it must not lead back to itself.
    return isSignIn(location) ? <LoadingRows /> : <Navigate to="/sign-in" search={{ back: location }} />;
  }
  if (me.data === undefined) {
    return (
      <main className="page">
        {me.error === null ? <LoadingRows /> : <ProblemNote error={me.error} retry={() => void me.refetch()} />}
      </main>
    );
  }
  const workspace = chosenWorkspace(me.data);
  if (me.data.user === null || workspace === undefined) {
    return <NoWorkspace email={me.data.user?.email ?? ''} />;
  }
  setWorkspace(workspace.id);
  const chooseWorkspace = (id: string) => {
    rememberWorkspace(id);
    setWorkspace(id);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'me' });
    setChanges((changes) => changes + 1);
  };
  if (workspace.needsSingleSignOn) {
    return <NeedsSignOn workspace={workspace} workspaces={me.data.workspaces} choose={chooseWorkspace} />;
  }
  const { user, workspaces, isOperator, singleSignOn } = me.data;
  const isSingleSignOn = singleSignOn !== null;
  // The server answers every other page of this workspace with a refusal; a provider asks for factors of its own.
  const lacksFactor = workspace.needsSecondFactor && !user.hasSecondFactor && !isSingleSignOn;
  if (lacksFactor && !/^\/profile([?#]|$)/.test(location)) return <Navigate to="/profile" />;
  const session = { user, workspace, workspaces, isOperator, isSingleSignOn, chooseWorkspace };
  return (
    <SessionProvider session={session}>
      <Shell key={workspace.id} />
    </SessionProvider>
  );
}

function isSignIn(location: string): boolean {
  return /^\/sign-in([?#]|$)/.test(location);
}

function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.problem.status === 401;
}

/** For an account that was removed from its last workspace. */
function NoWorkspace({ email }: { email: string }) {
  const signOut = useSignOut();
  return (
    <Door
      title="Your account belongs to no workspace"
      sub={
        <>
          You are signed in as <OuterText text={email} />. Ask an owner or admin of the workspace for an invitation: it
          is a link that you open here.
        </>
      }
    >
      <Button look="ink" isBusy={signOut.isPending} onClick={() => signOut.mutate(undefined, { onError: tellError })}>
        Sign out
      </Button>
    </Door>
  );
}
