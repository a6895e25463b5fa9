import { Link, useParams } from '@tanstack/react-router';
import { useSignOn } from '../../api/sign-on.ts';
import { Button } from '../../parts/button.tsx';
import { Door, DoorForm } from '../../shell/door.tsx';
import { SignOnProblem } from '../../shell/sign-on-problem.tsx';

/** The sign-in link of a workspace. A click begins, so that a link of another site signs nobody in. */
export function BeginSignOn() {
  const { workspaceId } = useParams({ from: '/sso/$workspaceId' });
  const signOn = useSignOn();
  return (
    <Door title="Single sign-on" sub="You sign in at the provider of the workspace, and come back here.">
      <DoorForm submit={() => signOn.mutate({ workspaceId })}>
        <SignOnProblem error={signOn.error} />
        <Button look="ink" type="submit" isBusy={signOn.isPending} autoFocus>
          Continue with single sign-on
        </Button>
        <p className="small">
          <Link to="/sign-in">Sign in with a password</Link>
        </p>
      </DoorForm>
    </Door>
  );
}
