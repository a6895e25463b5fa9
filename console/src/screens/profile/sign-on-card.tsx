import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { readingMe } from '../../api/me.ts';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useLinkSignOn } from '../../api/sign-on.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { LinkSignOnForm } from '../../parts/link-sign-on-form.tsx';
import { OuterText } from '../../parts/texts.tsx';

/** Whether this account signs in by the provider of the workspace, too. */
export function SignOnCard() {
  const { workspace } = useSession();
  const link = useLinkSignOn();
  const isLinked = workspace.singleSignOn === 'linked';
  return (
    <Card title="Single sign-on" right={isLinked && <UnlinkButton />}>
      <div className="pad stack">
        <p>
          {isLinked
            ? 'Your account is linked with the provider of '
            : 'Link your account, and you can also sign in by the provider of '}
          <OuterText text={workspace.name} most={60} />. A session by the provider opens this workspace alone.
        </p>
        {!isLinked && (
          <LinkSignOnForm
            link={(password) => link.mutate({ workspaceId: workspace.id, password })}
            isBusy={link.isPending}
            error={link.error}
          />
        )}
      </div>
    </Card>
  );
}

function UnlinkButton() {
  const { workspace } = useSession();
  const client = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const unlink = useChange({ method: 'DELETE', path: `/me/single-sign-on/${workspace.id}` });
  const done = () => {
    setIsOpen(false);
    void client.invalidateQueries(readingMe);
  };
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        End the link
      </Button>
      <Confirm
        title="End the link with the provider?"
        verb="End the link"
        isOpen={isOpen}
        close={() => setIsOpen(false)}
        isBusy={unlink.isPending}
        error={unlink.error}
        confirm={() => unlink.mutate(undefined, { onSuccess: done })}
      >
        <p>Sessions that the provider started end at once. Your password keeps working.</p>
      </Confirm>
    </>
  );
}
