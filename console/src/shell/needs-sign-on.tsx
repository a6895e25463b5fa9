/** The door of a workspace that opens by single sign-on alone, to somebody who signed in with a password. */
import type { Me } from '@millrace/contract/control';
import { useLinkSignOn, useSignOn } from '../api/sign-on.ts';
import { useSignOut } from '../api/sign-out.ts';
import { Button } from '../parts/button.tsx';
import { LinkSignOnForm } from '../parts/link-sign-on-form.tsx';
import { tellError } from '../parts/tell-error.ts';
import { OuterText } from '../parts/texts.tsx';
import { Door, DoorForm } from './door.tsx';
import { SignOnProblem } from './sign-on-problem.tsx';

type Workspace = Me['workspaces'][number];
type NeedsSignOnProps = { workspace: Workspace; workspaces: readonly Workspace[]; choose(id: string): void };

export function NeedsSignOn({ workspace, workspaces, choose }: NeedsSignOnProps) {
  const signOn = useSignOn();
  const link = useLinkSignOn();
  const signOut = useSignOut();
  const { id: workspaceId, name, singleSignOn } = workspace;
  return (
    <Door
      title="This workspace asks for single sign-on"
      sub={
        <>
          <OuterText text={name} most={60} /> opens by its provider alone.{' '}
          {singleSignOn === 'possible' && 'Your account is not linked with the provider yet: link it once.'}
        </>
      }
    >
      {singleSignOn === 'possible' ? (
        <LinkSignOnForm
          link={(password) => link.mutate({ workspaceId, password })}
          isBusy={link.isPending}
          error={link.error}
        />
      ) : (
        <DoorForm submit={() => signOn.mutate({ workspaceId })}>
          <SignOnProblem error={signOn.error} />
          <Button look="ink" type="submit" isBusy={signOn.isPending}>
            Continue with single sign-on
          </Button>
        </DoorForm>
      )}
      <div className="btns mt2">
        {workspaces
          .filter((each) => each.id !== workspaceId)
          .map((each) => (
            <Button key={each.id} onClick={() => choose(each.id)}>
              Open <OuterText text={each.name} most={40} />
            </Button>
          ))}
        <Button isBusy={signOut.isPending} onClick={() => signOut.mutate(undefined, { onError: tellError })}>
          Sign out
        </Button>
      </div>
    </Door>
  );
}
