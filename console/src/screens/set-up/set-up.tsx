import { useMutation } from '@tanstack/react-query';
import type { Me } from '@millrace/contract/control';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, askControl } from '../../api/ask-control.ts';
import { useEnter } from '../../api/enter.ts';
import { tokenOf } from '../../format/link-token.ts';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Steps } from '../../parts/steps.tsx';
import { Door } from '../../shell/door.tsx';
import { useFragmentToken } from '../../shell/link-door.tsx';
import { type FirstOwner, OwnerForm } from './owner-form.tsx';

export function SetUp() {
  const given = useFragmentToken();
  const [pasted, setPasted] = useState('');
  const enter = useEnter();
  const create = useMutation({
    mutationFn: (owner: FirstOwner) =>
      askControl<Me>('/bootstrap', { method: 'POST', body: owner, bearer: given || tokenOf(pasted) }),
    onSuccess: (me) => enter(me),
  });
  return (
    <Door title="Create the first workspace and its owner" sub={<Sub isLinked={given !== ''} />} second={<Way />}>
      <OwnerForm
        create={create.mutate}
        isBusy={create.isPending}
        problem={create.error !== null && <SetUpProblem error={create.error} />}
        {...(given === '' ? { pasted, setPasted } : {})}
      />
    </Door>
  );
}

function Sub({ isLinked }: { isLinked: boolean }) {
  if (isLinked) return <>You opened the link from the log. It works once, for 24 hours after Millrace logged it.</>;
  return (
    <>
      Millrace logs a link when it starts for the first time: look for <code>setup.waiting</code>. Open that link, or
      paste it here.
    </>
  );
}

function SetUpProblem({ error }: { error: unknown }) {
  const code = error instanceof ApiError ? error.problem.code : '';
  if (code === 'already_set_up') {
    return (
      <Note state="givenup" title="This installation is set up already.">
        <Link to="/sign-in">Sign in</Link>, or ask an owner for an invitation.
      </Note>
    );
  }
  if (code === 'not_signed_in') {
    return (
      <Note state="givenup" title="This link does not work.">
        It was cut when it was copied, or it is older than 24 hours. Restart Millrace: it logs a new link.
      </Note>
    );
  }
  return <ProblemNote error={error} />;
}

function Way() {
  return (
    <>
      <h2>From here to the first delivered event: about 5 minutes</h2>
      <Steps
        steps={[
          { name: 'Create the owner', text: 'With the form on this page.', state: 'now' },
          { name: 'Add a source and send a first call', text: 'The page turns green when it arrives.', state: 'later' },
          {
            name: 'Add a destination',
            text: 'Millrace checks the URL, the certificate and the signature check of your receiver.',
            state: 'later',
          },
          { name: 'See the event arrive', text: 'Every attempt, with the exact request and response.', state: 'later' },
        ]}
      />
      <p className="small dim mt2">Everything stays on your servers. The console asks no other host for anything.</p>
    </>
  );
}
